/**
 * What many messages together may cost is bounded, not only what each of them may: answers that a
 * client without a session does not read, requests that a server does not take, answers that it
 * does not finish, and log messages.
 */
import { afterEach, expect, test } from "vitest";
import { bare, postText } from "../fixtures/bare.ts";
import { deaf } from "../fixtures/deaf.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile } from "../fixtures/hostile.ts";
import { connectV1, disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const MB = 1024 * 1024;
const tool = { name: "work", inputSchema: { type: "object" } };

/** What a client of 2026-07-28 sends for a call of `one_big`. */
function callOfBig(token: string, bytes: number): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "reader", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "one_big", arguments: { bytes }, _meta };
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "one_big",
  };
  return postText("/mcp", headers, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
}

test("a client without a session that reads nothing gets no more large answers; others do", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const tokens = ["a-token-of-mallory", "a-token-of-alice"];
  const goblin = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: { auth: { tokens } },
    limits: { unreadBytes: 8 * MB },
  });
  for (let n = 0; n < 2; n++) {
    const { socket } = await bare(goblin.url);
    socket.pause();
    socket.write(callOfBig(tokens[0]!, 24 * MB));
  }
  const params = { name: "one_big", arguments: { bytes: MB } };
  const call = async (token: string) => (await stateless(goblin.url, { token }).call("tools/call", params)).message;
  await until(async () => (await call(tokens[0]!)).error?.data.limitName === "unreadBytes");
  expect((await call(tokens[1]!)).result.content[0].text.length).toBe(MB);
});

test("a server that does not answer large requests gets no more of them, and small ones still", async () => {
  const waiting: (() => void)[] = [];
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [tool] }),
      "tools/call": ({ params }) =>
        params.arguments.text ? new Promise((done) => waiting.push(() => done({ content: [] }))) : { content: [] },
    },
  });
  const goblin = await startGoblin({ mcpServers: { s: server.entry }, limits: { unsentBytes: 3 * MB } });
  const { client } = await connectV1({ url: goblin.url });
  const call = (size: number) => client.callTool({ name: "s_work", arguments: { text: "x".repeat(size) } });
  const taken = [call(MB), call(MB)];
  await until(() => waiting.length === 2);
  // As often as would close a server that fails.
  for (let n = 0; n < 6; n++) {
    await expect(call(1.5 * MB)).rejects.toThrow("the server has not begun to answer 2097");
  }
  expect(await call(0)).toEqual({ content: [] });
  for (const answer of waiting.splice(0)) answer();
  await Promise.all(taken);
  const again = call(1.5 * MB);
  await until(() => waiting.length === 1);
  waiting[0]!();
  expect(await again).toEqual({ content: [] });
});

test("answers that a server does not finish are bounded together", async () => {
  let begun = 0;
  const server = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [tool] }),
      "tools/call": ({ params }, response) => {
        if (!params.arguments.endless) return { content: [] };
        response.writeHead(200, { "content-type": "application/json", "content-length": String(MB) });
        response.write("x".repeat(0.9 * MB), () => void begun++);
        return new Promise(() => {});
      },
    },
  });
  const goblin = await startGoblin({ mcpServers: { s: server.entry }, limits: { resultBytes: MB } });
  const { client } = await connectV1({ url: goblin.url });
  const failures: string[] = [];
  const endless = (): void => {
    client
      .callTool({ name: "s_work", arguments: { endless: true } })
      .catch((error: Error) => void failures.push(error.message));
  };
  for (let n = 0; n < 4; n++) endless();
  await until(() => begun === 4);
  expect(failures).toEqual([]);
  endless();
  await until(() => failures.length > 0);
  expect(failures[0]).toContain("the unfinished answers of the server are too large together");
  expect(await client.callTool({ name: "s_work", arguments: {} })).toEqual({ content: [] });
});

test("a storm of log messages is cut, and that is said once", async () => {
  const count = 60_000;
  const message = { jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "again" } };
  let storm = (): void => {};
  const server = await startHostile({
    initialize: { capabilities: { tools: { listChanged: true }, logging: {} } },
    standing: (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      storm = () => {
        const text = `data: ${JSON.stringify(message)}\n\n`;
        for (let n = 0; n < count; n += 1000) response.write(text.repeat(1000));
        response.write(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`);
      };
    },
  });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  const { notifications } = await connectV1({ url: goblin.url });
  await until(() => server.gets() > 0);
  const lists = (): number => server.asked.filter(({ method }) => method === "tools/list").length;
  const before = lists();
  storm();
  await until(() => lists() > before);
  const said = goblin.logs.filter(({ msg }) => msg.includes("log messages a second"));
  expect(said.map(({ server: from }) => from)).toEqual(["s"]);
  const logged = notifications.filter(({ method }) => method === "notifications/message").length;
  expect(logged).toBeGreaterThan(0);
  expect(logged).toBeLessThan(count);
});

test("what one client sends to a program that does not read does not close the program to others", async () => {
  const goblin = await startGoblin({ mcpServers: { deaf }, limits: { unsentBytes: 200_000 } });
  const { client } = await connectV1({ url: goblin.url });
  const call = () => client.callTool({ name: "deaf_listen", arguments: { text: "x".repeat(300_000) } });
  const refusals: string[] = [];
  // As often as would close a server that fails; some of the first may fit.
  for (let n = 0; n < 12; n++) void call().catch(({ message }: Error) => refusals.push(message));
  await until(() => refusals.length >= 8, { what: "refusals" });
  for (const message of refusals) expect(message).toContain("unsentBytes is 200000");
  expect(goblin.gateway.servers.status("deaf")?.state).toBe("ready");
});
