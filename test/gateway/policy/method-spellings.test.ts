/**
 * Rules judge MCP's own methods. A server may act on a message that the gateway does not take for
 * one of them: a request without an id, or a method in another spelling. Neither reaches it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, type RawHttp, rawHttp } from "../../fixtures/peers.ts";
import { stdioClient } from "../../fixtures/stdio.ts";

/** Answers the tool `heard` with the marks of all messages that it got. */
const SERVER = `
  const marks = [];
  const results = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { list: {} }, experimental: { acme: {}, "acme/resources": {} } },
      serverInfo: { name: "s", version: "1" },
    },
    "tools/list": { tools: ["drop", "heard"].map((name) => ({ name, inputSchema: { type: "object" } })) },
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (params?.mark) marks.push(params.mark);
    const heard = { content: [{ type: "text", text: JSON.stringify(marks) }] };
    const result = results[method] ?? heard;
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  });
`;

let goblin: RunningGoblin;
let client: RawHttp;

beforeAll(async () => {
  goblin = await startGoblin({
    mcpServers: { s: { command: process.execPath, args: ["-e", SERVER], share: "all" } },
    policy: { rules: [{ effect: "deny", tools: ["drop"] }] },
  });
  client = rawHttp(goblin.url);
  await client.initialize();
});

afterAll(disposeAll);

const message = (method: string, mark: string, id?: number): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { name: "drop", uri: "x:///secret", requestId: 1, mark } });

async function heard(): Promise<string[]> {
  const { messages } = await client.post(
    '{"jsonrpc":"2.0","id":"heard","method":"tools/call","params":{"name":"s_heard"}}',
  );
  return JSON.parse(messages.find(({ id }) => id === "heard").result.content[0].text);
}

describe("a client's notification", () => {
  test.each([
    "tools/call",
    "resources/read",
    "tasks/cancel",
    "Tools/Call",
    "initialize",
    "ping",
    "Notifications/Cancelled",
    "notifications/Cancelled",
    " notifications/cancelled",
    "notifications/roots/listChanged",
  ])("does not reach a server as %j", async (method) => {
    expect((await client.post(message(method, "over HTTP"))).status).toBe(202);
    const stdio = stdioClient(goblin.gateway);
    await stdio.hello(0);
    stdio.input.write(`${message(method, "over stdio")}\n`);
    stdio.input.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s_heard"}}\n');
    await stdio.answer(1);
    const marks = await heard();
    expect(marks).not.toContain("over HTTP");
    expect(marks).not.toContain("over stdio");
  });

  test("reaches the server of its extension", async () => {
    await client.post(message("notifications/acme/seen", "seen"));
    await client.post(message("acme/seen", "also seen"));
    expect(await heard()).toEqual(expect.arrayContaining(["seen", "also seen"]));
  });
});

describe("a request with an unknown method", () => {
  test.each([
    "Tools/Call",
    " tools/call",
    "tools\u200b/call",
    "TOOLS/list",
    "Tasks/list",
    "resources/Read",
    "resources/re_ad",
    "re\u017fources/read",
  ])("does not reach the only server as %j, which some servers take for one of MCP's own", async (method) => {
    const { messages } = await client.post(message(method, method, 2));
    expect(messages[0].error).toMatchObject({ code: -32601 });
    expect(await heard()).not.toContain(method);
  });

  test("reaches the server of its extension", async () => {
    const { messages } = await client.post(message("resources/directory/read", "directory", 3));
    expect(messages[0].result).toBeDefined();
    expect(await heard()).toContain("directory");
  });
});
