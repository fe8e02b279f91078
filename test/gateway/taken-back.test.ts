/**
 * What is taken back, on either side: a server's question that nobody needs answered any more, so
 * that a form closes, and a client's call, with the reason that the client gave.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";
import { connectSpeaker } from "../matrix/speakers.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const elicitation = { elicitation: { form: {} } };

async function start(transport: "stdio" | "http" | "sse", era: "legacy" | "modern" = "legacy", extra = {}) {
  const server = await startScripted({ name: "one", transport, era });
  const goblin = await startGoblin({ mcpServers: { one: server.entry }, ...extra });
  return { server, goblin };
}

describe.each(["stdio", "http", "sse"] as const)("a question that the server takes back, over %s", (transport) => {
  const retracting = { name: "one_ask", arguments: { kind: "elicitation", force: true, retract: "too late" } };

  test("a session is told so, under the id that it was asked under, and the server gets no answer", async () => {
    const { server, goblin } = await start(transport);
    const client = rawHttp(goblin.url);
    await client.initialize("2025-11-25", elicitation);
    const { messages, message } = await client.call("tools/call", retracting);
    expect(message.result.content[0].text).toBe('"retracted"');
    const asked = messages.find((m) => m.method === "elicitation/create");
    expect(messages.filter((m) => m.method === "notifications/cancelled")).toEqual([
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: asked.id, reason: "too late" } },
    ]);
    // An answer that was on its way meets nobody.
    await client.post({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: {} } });
    await client.call("tools/call", { name: "one_echo", arguments: {} });
    expect(await server.events("violation")).toEqual([]);
  });

  test("a client without a session gets the answer, and no question that nobody waits for", async () => {
    const { server, goblin } = await start(transport);
    const { message } = await stateless(goblin.url, { capabilities: elicitation }).call("tools/call", retracting);
    expect(message.result.content[0].text).toBe('"retracted"');
    expect(await server.events("violation")).toEqual([]);
  });
});

test("a question that two calls may have asked is taken back when both were given up", async () => {
  const { server, goblin } = await start("stdio");
  const client = rawHttp(goblin.url);
  await client.initialize("2025-11-25", elicitation);
  const standing = await client.stream({});
  const begin = (id: number, name: string, args: object) =>
    client.stream({ body: { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } } });
  const giveUp = (requestId: number) =>
    client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  void begin(1, "one_sleep", { ms: 60_000 }).catch(() => {});
  await server.waitFor((r) => r.message?.params?.name === "sleep");
  const asking = await begin(2, "one_ask", { kind: "elicitation" });
  const { id: requestId } = await asking.next((m) => m.method === "elicitation/create");
  await giveUp(2);
  await server.waitFor((r) => r.event === "cancelled");
  await giveUp(1);
  const taken = await standing.next((m) => m.method === "notifications/cancelled");
  expect(taken.params).toEqual({ requestId, reason: "The call that the question belonged to is over" });
  const { message } = await server.waitFor((r) => r.dir === "in" && r.message?.error);
  expect(message?.error?.data?.code).toBe("CANCELLED");
});

test.each([
  ["the call times out", { timeouts: { callMs: 1000, maxCallMs: 1200 } }, () => {}],
  ["the server goes away", {}, (server: { kill(): Promise<void> }) => void server.kill()],
])("an open question is taken back when %s", async (_, config, happens) => {
  const { server, goblin } = await start("stdio", "legacy", config);
  const client = rawHttp(goblin.url);
  await client.initialize("2025-11-25", elicitation);
  const params = { name: "one_ask", arguments: { kind: "elicitation" } };
  const stream = await client.stream({ body: { jsonrpc: "2.0", id: 7, method: "tools/call", params } });
  const { id: requestId } = await stream.next((m) => m.method === "elicitation/create");
  happens(server);
  const taken = await stream.next((m) => m.method === "notifications/cancelled");
  expect(taken.params).toEqual({ requestId, reason: expect.any(String) });
  expect((await stream.next((m) => m.id === 7)).error).toBeDefined();
});

describe.each(["legacy", "modern"] as const)("a %s server hears why a call was cancelled", (era) => {
  test("of a session, in the client's own words", async () => {
    const { server, goblin } = await start("stdio", era);
    const { client } = await connectV1({ url: goblin.url });
    const abort = new AbortController();
    const call = client.callTool({ name: "one_sleep", arguments: { ms: 30_000 } }, undefined, { signal: abort.signal });
    await server.waitFor((r) => r.message?.params?.name === "sleep");
    abort.abort("changed my mind");
    await expect(call).rejects.toThrow();
    expect((await server.waitFor((r) => r.event === "cancelled"))["reason"]).toBe("changed my mind");
  });

  test("of a client without a session, where its transport lets it say so", async () => {
    const { server, goblin } = await start("stdio", era);
    const ada = await connectSpeaker({ goblin, version: "2026-07-28", way: "stdio" });
    const call = ada.begin("tools/call", { name: "one_sleep", arguments: { ms: 30_000 } });
    await server.waitFor((r) => r.message?.params?.name === "sleep");
    call.cancel("enough of it");
    expect((await server.waitFor((r) => r.event === "cancelled"))["reason"]).toBe("enough of it");
  });

  test("a client that gives no reason has one given", async () => {
    const { server, goblin } = await start("stdio", era);
    const client = rawHttp(goblin.url);
    await client.initialize();
    const params = { name: "one_sleep", arguments: { ms: 30_000 } };
    const call = client.post({ jsonrpc: "2.0", id: 5, method: "tools/call", params });
    await server.waitFor((r) => r.message?.params?.name === "sleep");
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5, reason: 42 } });
    await call;
    await until(async () => (await server.events("cancelled")).length === 1);
    expect((await server.events("cancelled"))[0]!["reason"]).toBe("Cancelled by the client");
  });
});
