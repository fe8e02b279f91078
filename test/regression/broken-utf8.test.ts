/**
 * Bytes of a client that are not UTF-8 were replaced by U+FFFD on their way to the server; a server
 * must get what was sent, or nothing.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";
import { stdioClient } from "../fixtures/stdio.ts";

afterEach(disposeAll);

const request = (text: Buffer) =>
  Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"one_echo","arguments":{"text":"'),
    text,
    Buffer.from('"}}}'),
  ]);
const broken = [[0xff], [0xc3], [0xed, 0xa0, 0x80]].map((bytes) => request(Buffer.from(bytes)));
const fine = request(Buffer.from("\ufffdé"));

test("over HTTP it is a parse error", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const post = (body: Buffer) => {
    const headers = { ...client.headers, "content-type": "application/json", accept: "*/*" };
    return fetch(goblin.url, { method: "POST", headers, body: new Uint8Array(body) });
  };
  for (const body of broken) {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32700 } });
  }
  expect(await (await post(fine)).json()).toMatchObject({ id: 7, result: { structuredContent: { text: "\ufffdé" } } });
  expect(await server.received("tools/call")).toHaveLength(1);
});

test("over stdio it is a parse error", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: server.entry } });
  const client = stdioClient(goblin.gateway);
  await client.hello();
  for (const line of [...broken, fine]) client.input.write(Buffer.concat([line, Buffer.from("\n")]));
  expect((await client.answer(7)).result.structuredContent).toEqual({ text: "\ufffdé" });
  const refused = client.messages().filter(({ id }) => id === null);
  expect(refused.map(({ error }) => error.code)).toEqual([-32700, -32700, -32700]);
});
