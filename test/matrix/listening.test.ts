/**
 * `subscriptions/listen` on both sides: what a client of 2026-07-28 hears on its stream, and how
 * the gateway keeps its own stream to a server of that version, whatever becomes of it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type RawStream, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { connectSpeaker } from "./speakers.ts";
import { type Stateless, SUBSCRIPTION_KEY, stateless } from "./stateless.ts";

afterEach(async () => {
  vi.useRealTimers();
  await disposeAll();
});

const HELLO = "s+text:///hello";
const LOGS = "s+file:///logs/app.log";
const UPDATED = "notifications/resources/updated";
const TOOLS = "notifications/tools/list_changed";

async function start(era: "legacy" | "modern", transport: "http" | "stdio" = "http", script = {}) {
  const server = await startScripted({ transport, era, name: "s", script });
  const goblin = await startGoblin({ mcpServers: { s: server.entry } });
  return { server, goblin, client: stateless(goblin.url) };
}

const listen = (client: Stateless, notifications: object, id: string | number = "mine"): Promise<RawStream> =>
  client.stream("subscriptions/listen", { notifications }, { id });
const acknowledged = (stream: RawStream) => stream.next((m) => m.method === "notifications/subscriptions/acknowledged");
const methods = (stream: RawStream) => stream.messages.map((m) => m.method);

describe.each(["legacy", "modern"] as const)("a client listens, the server is %s", (era) => {
  test("the acknowledgement comes first and says what is honoured; every message carries the request's id", async () => {
    const { server, client } = await start(era);
    const wanted = { toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: [HELLO, "no:///such"] };
    const stream = await listen(client, wanted);
    expect([stream.status, stream.headers.get("x-accel-buffering")]).toEqual([200, "no"]);
    expect((await acknowledged(stream)).params).toEqual({
      notifications: { toolsListChanged: true, resourceSubscriptions: [HELLO] },
      _meta: { [SUBSCRIPTION_KEY]: "mine" },
    });
    await server.control("touch", { uri: "text:///hello" });
    await server.control("set_prompts", { prompts: [{ name: "unasked" }] });
    await server.control("set_tools", { tools: [{ name: "new", inputSchema: { type: "object" } }] });
    await stream.next((m) => m.method === TOOLS);
    await stream.next((m) => m.method === UPDATED);
    await sleep(100);
    expect(methods(stream)).toEqual(["notifications/subscriptions/acknowledged", UPDATED, TOOLS]);
    for (const message of stream.messages) expect(message.params._meta).toEqual({ [SUBSCRIPTION_KEY]: "mine" });
    expect(stream.messages[1].params.uri).toBe(HELLO);
  });

  test("two streams with the same id hear only what each asked for", async () => {
    const { server, client } = await start(era);
    const [one, two] = [
      await listen(client, { resourceSubscriptions: [HELLO] }, 1),
      await listen(client, { resourceSubscriptions: [LOGS] }, 1),
    ];
    await Promise.all([acknowledged(one), acknowledged(two)]);
    await server.control("touch", { uri: "text:///hello" });
    await server.control("touch", { uri: "file:///logs/app.log" });
    await Promise.all([one, two].map((stream) => stream.next((m) => m.method === UPDATED)));
    await sleep(100);
    const uris = (stream: RawStream) => stream.messages.slice(1).map((m) => m.params.uri);
    expect([uris(one), uris(two)]).toEqual([[HELLO], [LOGS]]);
  });

  test("the server is asked once for all clients of both eras, and let go when the last one is gone", async () => {
    const { server, goblin, client } = await start(era);
    const one = await listen(client, { resourceSubscriptions: [HELLO] });
    await acknowledged(one);
    const session = await connectSpeaker({ goblin, version: "2025-06-18", way: "http" });
    const unsubscribe = await session.watch(HELLO);
    const wantsHello = async () => {
      if (era === "modern") {
        const [last] = (await server.events("listen")).slice(-1);
        return (last?.["filter"].resourceSubscriptions ?? []).includes("text:///hello");
      }
      return (await server.events("subscribe")).length - (await server.events("unsubscribe")).length === 1;
    };
    expect(await wantsHello()).toBe(true);
    await server.control("touch", { uri: "text:///hello" });
    await one.next((m) => m.method === UPDATED);
    await until(() => session.heard.some((m) => m.method === UPDATED));
    // What belongs to the new era is not for a session.
    expect(session.heard.find((m) => m.method === UPDATED).params).toEqual({ uri: HELLO });
    await one.close();
    await sleep(100);
    expect(await wantsHello()).toBe(true);
    await unsubscribe();
    await until(async () => !(await wantsHello()), { what: "the end of the subscription at the server" });
  });

  test("the gateway's end is a result with the request's id", async () => {
    const { goblin, client } = await start(era);
    const stream = await listen(client, { toolsListChanged: true });
    await acknowledged(stream);
    await goblin.gateway.close();
    await until(() => stream.ended);
    expect(stream.messages.at(-1)).toMatchObject({
      id: "mine",
      result: { resultType: "complete", _meta: { [SUBSCRIPTION_KEY]: "mine" } },
    });
  });
});

test("a quiet stream is kept alive by comments", async () => {
  const { client } = await start("legacy");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const stream = await listen(client, { toolsListChanged: true });
  await acknowledged(stream);
  vi.advanceTimersByTime(30_000);
  await until(() => stream.comments.length >= 2);
  expect(stream.messages).toHaveLength(1);
});

test("listening to nothing that exists is acknowledged as such and ends", async () => {
  const { client } = await start("legacy");
  const stream = await listen(client, { resourceSubscriptions: ["no:///such"] });
  expect((await acknowledged(stream)).params.notifications).toEqual({});
  await until(() => stream.ended);
  expect(stream.messages.at(-1).result.resultType).toBe("complete");
});

test("without a filter it is a bad request", async () => {
  const { client } = await start("legacy");
  const { message } = await client.call("subscriptions/listen", {});
  expect(message.error.code).toBe(-32602);
});

test("over stdio: cancelled by a notification, and ended with a result", async () => {
  const { server, goblin } = await start("legacy");
  const speaker = await connectSpeaker({ goblin, version: "2026-07-28", way: "stdio" });
  const end = await speaker.watch(HELLO);
  await end();
  await server.waitFor((r) => r.event === "unsubscribe");
  const heard = speaker.heard.length;
  await server.control("touch", { uri: "text:///hello" });
  await sleep(100);
  expect(speaker.heard).toHaveLength(heard);
});

describe.each(["http", "stdio"] as const)("the gateway listens to a server over %s", (transport) => {
  const opened = (server: Scripted) => server.events("listen");

  async function subscribed() {
    const { server, goblin } = await start("modern", transport);
    const session = await connectSpeaker({ goblin, version: "2025-11-25", way: "http" });
    await session.watch(HELLO);
    return { server, session, goblin };
  }

  test("one stream at a time: a changed set replaces it without a gap", async () => {
    const { server, session } = await subscribed();
    await session.watch(LOGS);
    await until(async () => (await server.events("unlisten")).length === (await opened(server)).length - 1);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => session.heard.some((m) => m.method === UPDATED));
    await sleep(100);
    expect(session.heard.filter((m) => m.method === UPDATED)).toHaveLength(1);
    const last = (await opened(server)).at(-1)!["filter"];
    expect(last).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["text:///hello", "file:///logs/app.log"],
    });
  });

  test.each([
    ["breaks", false],
    ["ends gracefully", true],
  ])("a stream that %s is opened again, and what may have been missed is told", async (_what, graceful) => {
    const { server, session, goblin } = await subscribed();
    const before = (await opened(server)).length;
    await server.control("set_tools", { tools: [{ name: "missed", inputSchema: { type: "object" } }], silent: true });
    await server.control("close_streams", { graceful });
    await until(async () => (await opened(server)).length > before, { what: "another listen" });
    await until(() => session.heard.some((m) => m.method === UPDATED), {
      what: "the update that may have been missed",
    });
    await until(() => session.heard.some((m) => m.method === TOOLS), { what: "the change that was missed" });
    expect(names(goblin)).toContain("s_missed");
    await server.control("touch", { uri: "text:///hello" });
    await until(() => session.heard.filter((m) => m.method === UPDATED).length === 2);
    expect(session.heard.filter((m) => m.method === UPDATED).map((m) => m.params.uri)).toEqual([HELLO, HELLO]);
  });

  test("a server that does not honour a subscription: the client is told", async () => {
    const { goblin } = await start("modern", transport, { listen: { refuse: ["resourceSubscriptions"] } });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    expect((await raw.call("resources/subscribe", { uri: HELLO })).message.error.data).toMatchObject({ serverId: "s" });
    const stream = await listen(stateless(goblin.url), { toolsListChanged: true, resourceSubscriptions: [HELLO] });
    expect((await acknowledged(stream)).params.notifications).toEqual({ toolsListChanged: true });
  });
});

function names(goblin: RunningGoblin): string[] {
  return goblin.gateway.snapshot().tools.entries.map((entry) => entry.exposed);
}
