/**
 * A member that a request has twice must not be read one way by the gateway and another way by the
 * server behind it: what was denied, and whose progress it is, is decided by the one that the
 * gateway reads. Inside of a tool's arguments keys are the tool's own business.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, startScripted } from "../fixtures/peers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

async function start(era: "legacy" | "modern" = "legacy") {
  const server = await startScripted({ transport: "stdio", name: "one", era });
  const entry = { ...server.entry, prefix: "", tools: { deny: ["add"] } };
  const goblin = await startGoblin({ mcpServers: { one: entry } });
  const http = rawHttp(goblin.url);
  await http.initialize();
  return { server, goblin, http };
}

/** What the server got of one request, as it was written. */
async function seenBy(server: Scripted, method: string): Promise<string[]> {
  return (await server.received(method)).map(({ raw, message }) => raw ?? JSON.stringify(message));
}

const args = '"arguments":{"a":1}';

describe.each(["legacy", "modern"] as const)("in front of a %s server", (era) => {
  test.each([
    [-32602, "name", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","name":"echo",${args}}}`],
    [
      -32602,
      "name",
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"n\\u0061me":"add","name":"echo",${args}}}`,
    ],
    [-32602, "arguments", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",${args},${args}}}`],
    [
      -32602,
      "_meta",
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1},"_meta":{}}}`,
    ],
    [
      -32602,
      "uri",
      '{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///secret","uri":"file:///logs/app.log"}}',
    ],
    [
      -32602,
      "type",
      '{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/resource","type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":""}}}',
    ],
    [
      -32600,
      "params",
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"},"params":{"name":"echo",${args}}}`,
    ],
    [
      -32600,
      "method",
      `{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call","params":{"name":"echo",${args}}}`,
    ],
    [-32600, "id", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo",${args}},"id":7}`],
    [
      -32600,
      "jsonrpc",
      `{"jsonrpc":"1.0","id":7,"method":"tools/call","params":{"name":"echo",${args}},"jsonrpc":"2.0"}`,
    ],
  ])("%i for a second %j, and no server hears of it", async (code, key, body) => {
    const { server, http } = await start(era);
    const { messages } = await http.send({ body });
    expect(messages).toMatchObject([{ id: 7, error: { code, message: expect.stringContaining(`"${key}"`) } }]);
    for (const method of ["tools/call", "resources/read", "completion/complete"]) {
      expect(await seenBy(server, method)).toEqual([]);
    }
  });

  test("a client without a session is refused as well", async () => {
    const { server, goblin } = await start(era);
    const meta = JSON.stringify({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    });
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"echo","_meta":${meta}}}`;
    const { messages } = await rawHttp(goblin.url).send({ body, headers });
    expect(messages).toMatchObject([{ id: 7, error: { code: -32602 } }]);
    expect(await seenBy(server, "tools/call")).toEqual([]);
    expect(
      (await stateless(goblin.url).call("tools/call", { name: "echo", arguments: {} })).message.result,
    ).toBeDefined();
  });

  test("keys in a tool's arguments go through as they are", async () => {
    const { server, http } = await start(era);
    const own = '{"name":"x","name":"y","arguments":{"a":1,"a":2}}';
    await http.send({
      body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${own}}}`,
    });
    expect((await seenBy(server, "tools/call"))[0]).toContain(own);
  });
});

test("a client's answer to a question that can be read in two ways is refused", async () => {
  const { goblin } = await start();
  const client = rawHttp(goblin.url);
  await client.initialize("2025-11-25", { roots: {} });
  const stream = await client.stream({
    body: { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "ask", arguments: { kind: "roots" } } },
  });
  const question = await stream.next((message) => message.method === "roots/list");
  const body = `{"jsonrpc":"2.0","id":${JSON.stringify(question.id)},"result":{"roots":[]},"result":{"roots":[]}}`;
  expect((await client.send({ body })).status).toBe(202);
  const answer = await stream.next((message) => message.id === 7);
  expect(JSON.stringify(answer)).toContain("appears in it twice");
});
