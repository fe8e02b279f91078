/**
 * What bad input gets over HTTP: the status and error that the specification names, and a gateway
 * that goes on as before.
 */
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, type RawHttp, rawHttp, startScripted, until } from "../fixtures/peers.ts";

let goblin: RunningGoblin;
let client: RawHttp;

beforeAll(async () => {
  const backend = await startScripted({ name: "one" });
  goblin = await startGoblin({ mcpServers: { one: backend.entry }, limits: { bodyBytes: 100_000 } });
});
beforeEach(() => {
  client = rawHttp(goblin.url);
});
afterAll(async () => {
  // Whatever was sent: the gateway still serves.
  const last = rawHttp(goblin.url);
  await last.initialize();
  expect((await last.call("tools/call", { name: "one_add", arguments: { a: 1, b: 1 } })).message.result).toMatchObject({
    structuredContent: { sum: 2 },
  });
  await disposeAll();
});

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("messages", () => {
  test.each([
    ["no JSON", "{", 400, -32700],
    ["nothing", " ", 400, -32700],
    ["a string", '"hello"', 400, -32600],
    ["no version", { id: 1, method: "ping" }, 400, -32600],
    ["another version", { jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32600],
    ["a method that is no string", { jsonrpc: "2.0", id: 1, method: 5 }, 400, -32600],
    ["params that are an array", { jsonrpc: "2.0", id: 1, method: "ping", params: [] }, 400, -32600],
    ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, 400, -32600],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, 400, -32600],
    ["an id that no number can hold", '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', 400, -32600],
    ["neither method nor answer", { jsonrpc: "2.0", id: 1 }, 400, -32600],
  ])("%s", async (_, body, status, code) => {
    await client.initialize();
    const answer = await client.post(body);
    expect([answer.status, answer.json.error.code, answer.json.jsonrpc]).toEqual([status, code, "2.0"]);
  });

  test.each([
    ["unknown/method", {}, -32601],
    ["constructor", {}, -32601],
    ["__proto__", {}, -32601],
    ["tools/call", {}, -32602],
    ["tools/call", { name: 5 }, -32602],
    ["tools/call", { name: "toString" }, -32602],
    ["prompts/get", { name: "nobody" }, -32602],
    ["resources/read", {}, -32602],
    ["resources/read", { uri: "no:///where" }, -32002],
    ["completion/complete", { ref: null }, -32602],
    ["tools/list", { cursor: "made up" }, -32602],
    ["logging/setLevel", { level: "shouting" }, -32602],
  ])("%s with %j is an error in an answer", async (method, params, code) => {
    await client.initialize();
    const { status, message } = await client.call(method, params, "my id");
    expect([status, message.id, message.error.code]).toEqual([200, "my id", code]);
  });

  test("an id that is in use is refused, the first request goes on", async () => {
    await client.initialize();
    const first = client.call("tools/call", { name: "one_sleep", arguments: { ms: 200 } }, 5);
    await until(async () => goblin.gateway.servers.status("one")!.inFlight === 1);
    const second = await client.call("tools/call", { name: "one_echo", arguments: {} }, 5);
    expect(second.message.error).toMatchObject({ code: -32600 });
    expect((await first).message.result.content[0].text).toBe("slept 200");
  });

  test("notifications and answers that mean nothing are accepted and ignored", async () => {
    await client.initialize();
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/unheard-of" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "nobody" } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", id: "never-asked", result: {} },
    ]) {
      expect((await client.post(body)).status).toBe(202);
    }
  });
});

describe("batches", () => {
  test("are for 2025-03-26, where each message is answered", async () => {
    await client.initialize("2025-03-26");
    const call = {
      jsonrpc: "2.0",
      id: "c",
      method: "tools/call",
      params: { name: "one_add", arguments: { a: 1, b: 2 } },
    };
    const note = { jsonrpc: "2.0", method: "notifications/unheard-of" };
    const { status, json } = await client.post([ping, note, call, 5, { jsonrpc: "2.0", id: 2, method: "initialize" }]);
    expect(status).toBe(200);
    expect(json.map((message: { id: unknown }) => message.id)).toEqual([1, "c", null, 2]);
    expect(json[1].result.structuredContent).toEqual({ sum: 3 });
    expect([json[2].error.code, json[3].error.code]).toEqual([-32600, -32600]);
    expect((await client.post([note])).status).toBe(202);
    expect((await client.post([])).status).toBe(400);
  });

  test.each(["2025-06-18", "2025-11-25"])("are refused in %s", async (version) => {
    await client.initialize(version);
    const { status, json } = await client.post([ping]);
    expect([status, json.error.code]).toEqual([400, -32600]);
  });
});

describe("HTTP", () => {
  test("a body over the limit is 413 if nobody knows its request, with and without a length", async () => {
    await client.initialize();
    const body = JSON.stringify({ padding: "x".repeat(120_000) });
    const { status, json } = await client.post(body);
    expect([status, json.error.code, json.error.data.limit]).toEqual([413, -32010, 100_000]);
    const chunked = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { "content-type": "application/json", "transfer-encoding": "chunked", ...client.headers };
      const sent = request(goblin.url, { method: "POST", headers }, (answer) => resolve(answer.resume().statusCode));
      sent.on("error", reject);
      sent.end(body);
    });
    expect(chunked).toBe(413);
  });

  test.each([
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/json-patch+json", 415],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON", 200],
  ])("content type %s is %i", async (type, status) => {
    await client.initialize();
    expect((await client.send({ body: ping, headers: { "content-type": type } })).status).toBe(status);
  });

  test.each([
    ["text/html", 406],
    ["image/*", 406],
    ["application/json", 200],
    ["text/event-stream", 200],
    ["*/*", 200],
  ])("accept %s is %i", async (accept, status) => {
    await client.initialize();
    expect((await client.send({ body: ping, headers: { accept } })).status).toBe(status);
  });

  test("a stream is only for those who accept one", async () => {
    await client.initialize();
    expect((await client.send({ verb: "GET", headers: { accept: "application/json" } })).status).toBe(406);
  });

  test.each(["PUT", "PATCH", "OPTIONS", "HEAD"])("%s is 405 everywhere", async (verb) => {
    await client.initialize();
    expect((await client.send({ verb })).status).toBe(405);
    expect((await rawHttp(goblin.sseUrl).send({ verb })).status).toBe(405);
    expect((await rawHttp(`${goblin.origin}/messages`).send({ verb })).status).toBe(405);
  });

  test("a path that does not exist is 404", async () => {
    expect((await rawHttp(`${goblin.origin}/nowhere`).post(ping)).status).toBe(404);
  });

  test("a client that goes away in the middle of its body moves nobody", async () => {
    const stream = await rawHttp(goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = await until(() => stream.events[0]?.data);
    for (const path of ["/mcp", endpoint]) {
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`;
      const socket = connect(Number(new URL(goblin.origin).port), "127.0.0.1");
      await new Promise<void>((resolve) => socket.write(head, () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, 30));
      socket.destroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await rawHttp(`${goblin.origin}/health`).send({})).status).toBe(200);
  });
});

describe("sessions", () => {
  test("a request without one is 400, with an unknown one 404", async () => {
    const missing = await client.post(ping);
    expect([missing.status, missing.json.id, missing.json.error.code]).toEqual([400, 1, -32600]);
    client.headers["mcp-session-id"] = "made-up";
    expect((await client.post(ping)).status).toBe(404);
    expect((await client.send({ verb: "GET" })).status).toBe(404);
    expect((await client.delete()).status).toBe(404);
  });

  test("after its end a session is unknown", async () => {
    await client.initialize();
    expect((await client.post(ping)).status).toBe(200);
    expect((await client.delete()).status).toBe(204);
    expect((await client.post(ping)).status).toBe(404);
  });

  test("a protocol version that is unknown is 400 in the header, and answered with one that is known in initialize", async () => {
    const opened = await client.initialize("1999-01-01");
    expect(opened.message.result.protocolVersion).toBe("2025-11-25");
    const { status, json } = await client.post(ping, { "mcp-protocol-version": "1999-01-01" });
    expect([status, json.error.code]).toEqual([400, -32600]);
    expect((await client.call("initialize", {})).status).toBe(400);
  });

  test("initialize in a session that is open is refused, and the session goes on", async () => {
    await client.initialize();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const second = await client.call("initialize", params);
    expect([second.status, second.message.error.code]).toEqual([400, -32600]);
    expect((await client.post(ping)).status).toBe(200);
  });

  test("/messages without or with an unknown session is 400 or 404, and bad bodies are refused", async () => {
    expect((await rawHttp(`${goblin.origin}/messages`).post(ping)).status).toBe(400);
    expect((await rawHttp(`${goblin.origin}/messages?sessionId=none`).post(ping)).status).toBe(404);
    const stream = await rawHttp(goblin.sseUrl).stream({ verb: "GET" });
    const endpoint = rawHttp(`${goblin.origin}${await until(() => stream.events[0]?.data)}`);
    expect((await endpoint.post("{")).status).toBe(400);
    expect((await endpoint.send({ body: ping, headers: { "content-type": "text/plain" } })).status).toBe(415);
    expect((await endpoint.post(JSON.stringify({ padding: "x".repeat(120_000) }))).status).toBe(413);
    expect((await endpoint.post({ ...ping, method: "tools/list" })).status).toBe(202);
    expect(await stream.next((message) => message.id === 1)).toMatchObject({ error: { code: -32600 } });
    expect((await endpoint.post([ping])).status).toBe(202);
    expect(await stream.next((message) => message.id === null)).toMatchObject({ error: { code: -32600 } });
  });
});

test("a request over the limit costs its client that request, not its session", async () => {
  const { client: sdk } = await connectV1({ url: goblin.url });
  const large = sdk.callTool({ name: "one_echo", arguments: { text: "x".repeat(120_000) } });
  await expect(large).rejects.toMatchObject({ code: -32010, data: { limitName: "limits.bodyBytes" } });
  expect((await sdk.listTools()).tools.length).toBeGreaterThan(0);
});
