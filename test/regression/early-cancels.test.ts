/**
 * A client cancels a large call while the gateway still reads or parses it. The cancellation found
 * no call and was lost, and the server then worked for nobody.
 */
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { bare, postText } from "../fixtures/bare.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";
import { stateless, VERSION_KEY } from "../matrix/stateless.ts";

afterEach(disposeAll);

/** Large enough to be parsed in slices. */
const text = "x".repeat(300_000);
const call = (id: number, params: object = {}) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { ...params, name: "one_echo", arguments: { text } },
  });
const cancel = (id: number) =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
const small = { name: "one_echo", arguments: { text: "small" } };

async function start() {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  /** How many large calls the server got. */
  const taken = async (): Promise<number> =>
    (await server.log()).filter(({ dir, bytes }) => dir === "in" && bytes !== undefined).length;
  return { goblin, taken };
}

/** Posts all of the message but its last byte. */
async function begin(url: string, path: string, { headers, body }: { headers: Record<string, string>; body: string }) {
  const connection = await bare(url);
  connection.socket.write(postText(path, headers, body.slice(0, -1), body.length));
  return { ...connection, finish: () => connection.socket.write(body.slice(-1)) };
}

test("with a session, the call never reaches the server, and other calls do", async () => {
  const { goblin, taken } = await start();
  const client = rawHttp(goblin.url);
  await client.initialize();
  const headers = { ...client.headers, accept: "application/json, text/event-stream" };
  const [cancelled, other] = await Promise.all(
    [7, 8].map((id) => begin(goblin.url, "/mcp", { headers, body: call(id) })),
  );
  // The gateway answers this one after it has begun to read the others.
  await client.call("tools/call", small);
  expect((await client.post(JSON.parse(cancel(7)))).status).toBe(202);
  cancelled!.finish();
  await until(() => cancelled!.text().endsWith("0\r\n\r\n"), { what: "an empty answer" });
  expect(cancelled!.text().includes('"id":7')).toBe(false);
  other!.finish();
  await until(() => other!.text().includes(text), { what: "the other answer" });
  expect(await taken()).toBe(1);
});

test("over HTTP+SSE, the call never reaches the server", async () => {
  const { goblin, taken } = await start();
  const standing = await rawHttp(goblin.sseUrl).stream({ verb: "GET", headers: { accept: "text/event-stream" } });
  await until(() => standing.events.length > 0, { what: "the endpoint" });
  const path = standing.events[0]!.data;
  const client = rawHttp(new URL(path, goblin.origin).href);
  const hello = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  await client.post({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello });
  await until(() => standing.events.some(({ data }) => data.includes('"id":1')), { what: "the handshake" });
  const cancelled = await begin(goblin.url, path, { headers: {}, body: call(7) });
  await client.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: small });
  await until(() => standing.events.some(({ data }) => data.includes('"id":2')), { what: "the small answer" });
  expect((await client.post(JSON.parse(cancel(7)))).status).toBe(202);
  cancelled.finish();
  await until(() => cancelled.text().includes("202"), { what: "the message to be taken" });
  await client.post({ jsonrpc: "2.0", id: 3, method: "tools/call", params: small });
  await until(() => standing.events.some(({ data }) => data.includes('"id":3')), { what: "the last answer" });
  expect(await taken()).toBe(0);
});

test("without a session, a client that disconnects takes its call back", async () => {
  const { goblin, taken } = await start();
  const meta = { [VERSION_KEY]: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "one_echo" };
  const cancelled = await begin(goblin.url, "/mcp", { headers, body: call(7, { _meta: meta }) });
  const client = stateless(goblin.url);
  await client.call("tools/call", small);
  cancelled.finish();
  cancelled.socket.destroy();
  await once(cancelled.socket, "close");
  await client.call("tools/call", small);
  expect(await taken()).toBe(0);
});

test("a cancellation is forgotten with the message that was read meanwhile", async () => {
  const { goblin } = await start();
  const client = rawHttp(goblin.url);
  await client.initialize();
  const headers = { ...client.headers, accept: "application/json" };
  const other = await begin(goblin.url, "/mcp", { headers, body: call(8) });
  await client.call("tools/call", small);
  await client.post(JSON.parse(cancel(7)));
  expect((await client.call("tools/call", small, 7)).message).toMatchObject({ id: 7, result: {} });
  other.finish();
  await until(() => other.text().includes(text), { what: "the other answer" });
});

test("over stdio, the cancellation waits for its call", async () => {
  const { goblin } = await start();
  const client = stdioClient(goblin.gateway);
  await client.hello();
  client.input.write(`${call(7)}\n${cancel(7)}\n${call(8)}\n`);
  await client.answer(8);
  expect(client.messages().map(({ id }) => id)).toEqual([1, 8]);
});
