/**
 * Subscriptions while everybody lives: who is told of what, in which form, and what the server
 * itself was asked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { disposeAll, rawHttp, type Scripted, until } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";
import { asked, type Listener, type Rig, requestsOf, startListener, startRig } from "./rig.ts";

afterEach(disposeAll);

const HELLO = "s+text:///hello";
const QUIET_MS = 80;

/** The subscriptions that the server itself knows of, in order. */
async function upstream(server: Scripted): Promise<string[]> {
  const changes = (await server.log()).filter(({ event }) => event === "subscribe" || event === "unsubscribe");
  return changes.map(({ event, uri }) => `${event} ${uri}`);
}

async function records({ goblin }: Pick<Rig, "goblin">) {
  const { items } = (await rawHttp(`${goblin.origin}/api/subscriptions`).send({})).json;
  return items as { client: string; serverId: string; uri: string; since: number }[];
}

const subscribe = ({ client }: Listener, uri: string) => asked(client, "resources/subscribe", { uri });
const unsubscribe = ({ client }: Listener, uri: string) => asked(client, "resources/unsubscribe", { uri });

describe.each(["stdio", "http"] as const)("a server over %s", (transport) => {
  test("is asked once for all clients; those who subscribed are told, each in its own words", async () => {
    const rig = await startRig({ s: { transport } });
    const server = rig.servers["s"]!;
    const [one, two, three] = [
      await startListener(rig.goblin),
      await startListener(rig.goblin),
      await startListener(rig.goblin),
    ] as const;
    const before = Date.now();
    expect(await subscribe(one, HELLO)).toEqual({});
    expect(await subscribe(two, "s_text___hello")).toEqual({});
    expect(await upstream(server)).toEqual(["subscribe text:///hello"]);
    const kept = await records(rig);
    expect(kept.map(({ serverId, uri }) => [serverId, uri])).toEqual([
      ["s", "text:///hello"],
      ["s", "text:///hello"],
    ]);
    expect(new Set(kept.map(({ client }) => client)).size).toBe(2);
    for (const { since } of kept) expect(since).toBeGreaterThanOrEqual(before);

    await server.control("touch", { uri: "text:///hello" });
    await until(() => one.updates().length === 1 && two.updates().length === 1);
    await sleep(QUIET_MS);
    expect([one.updates(), two.updates(), three.heard()]).toEqual([[HELLO], ["s_text___hello"], []]);

    // Under any of its names; what was never subscribed to can be let go of as well.
    expect(await unsubscribe(one, "text:///hello")).toEqual({});
    expect(await unsubscribe(three, HELLO)).toEqual({});
    expect(await upstream(server)).toEqual(["subscribe text:///hello"]);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => two.updates().length === 2);
    expect(await unsubscribe(two, "s_text___hello")).toEqual({});
    expect(await upstream(server)).toEqual(["subscribe text:///hello", "unsubscribe text:///hello"]);
    expect(await records(rig)).toEqual([]);
    await server.control("touch", { uri: "text:///hello", force: true });
    await sleep(QUIET_MS);
    expect([one.updates().length, two.updates().length, three.heard()]).toEqual([1, 2, []]);
    expect(await server.events("violation")).toEqual([]);
  });
});

test("the form that a client used last is the one it gets, and counts once", async () => {
  const rig = await startRig({ s: {} }, { limits: { subscriptionsPerClient: 1 } });
  const one = await startListener(rig.goblin);
  for (const uri of [HELLO, "text:///hello", "s_text_hello", "file:///s_text___hello"]) {
    expect(await subscribe(one, uri)).toEqual({});
  }
  expect(await records(rig)).toHaveLength(1);
  await rig.servers["s"]!.control("touch", { uri: "text:///hello" });
  await until(() => one.updates().length > 0);
  await sleep(QUIET_MS);
  expect(one.updates()).toEqual(["file:///s_text___hello"]);
  expect(await upstream(rig.servers["s"]!)).toEqual(["subscribe text:///hello"]);
});

test("over the limit: LimitExceeded, nothing made, and room again after one is let go", async () => {
  const rig = await startRig({ s: { resources: 3 } }, { limits: { subscriptionsPerClient: 2 } });
  const [one, two] = [await startListener(rig.goblin), await startListener(rig.goblin)];
  const uri = (n: number) => `s+mem:///r${n}`;
  expect(await subscribe(one, uri(1))).toEqual({});
  expect(await subscribe(one, uri(2))).toEqual({});
  expect(await subscribe(one, uri(3))).toEqual({
    code: -32010,
    message:
      "LimitExceeded: this client holds too many subscriptions (subscriptionsPerClient is 2); unsubscribe from one first",
    data: expect.objectContaining({ code: "LimitExceeded", limit: 2 }),
  });
  expect(await upstream(rig.servers["s"]!)).toEqual(["subscribe mem:///r1", "subscribe mem:///r2"]);
  expect(await records(rig)).toHaveLength(2);
  expect(await subscribe(two, uri(3))).toEqual({});
  expect(await unsubscribe(one, uri(1))).toEqual({});
  expect(await subscribe(one, uri(3))).toEqual({});
});

test("a server that cannot be subscribed to: nothing is forwarded, its updates are delivered all the same", async () => {
  const rig = await startRig({ s: { script: { capabilities: { resources: { subscribe: null } } } } });
  const one = await startListener(rig.goblin);
  expect(await subscribe(one, HELLO)).toEqual({});
  expect(await records(rig)).toHaveLength(1);
  await rig.servers["s"]!.control("touch", { uri: "text:///hello", force: true });
  await until(() => one.updates().length > 0);
  expect(await unsubscribe(one, HELLO)).toEqual({});
  await rig.servers["s"]!.control("touch", { uri: "text:///hello", force: true });
  await sleep(QUIET_MS);
  expect(one.updates()).toEqual([HELLO]);
  expect(await requestsOf(rig.servers["s"]!)).toEqual([]);
});

test("a server that refuses: its error reaches the client, and no record stays", async () => {
  const rules = [
    {
      method: "resources/subscribe",
      name: "text:///hello",
      times: 1,
      do: "error",
      code: -32055,
      message: "full",
      data: { n: 1 },
    },
  ];
  const rig = await startRig({ s: { script: { rules } } });
  const one = await startListener(rig.goblin);
  expect(await subscribe(one, HELLO)).toEqual({ code: -32055, message: "full", data: { n: 1, serverId: "s" } });
  expect(await records(rig)).toEqual([]);
  await rig.servers["s"]!.control("touch", { uri: "text:///hello", force: true });
  await sleep(QUIET_MS);
  expect(one.updates()).toEqual([]);
  // It was the server's answer, not the end: the next attempt is a new one.
  expect(await subscribe(one, HELLO)).toEqual({});
  expect(await upstream(rig.servers["s"]!)).toEqual(["subscribe text:///hello"]);
});

test("an unknown or ambiguous resource: an error with its URI, and no server hears of it", async () => {
  const rig = await startRig({ a: {}, b: {} });
  const one = await startListener(rig.goblin);
  for (const call of [subscribe, unsubscribe]) {
    expect(await call(one, "a+text:///none")).toMatchObject({
      code: -32002,
      message: "Resource not found: a+text:///none",
      data: { code: "RESOURCE_NOT_FOUND", uri: "a+text:///none" },
    });
    expect(await call(one, "text:///hello")).toMatchObject({
      code: -32602,
      data: { code: "AMBIGUOUS", candidates: ["a+text:///hello", "b+text:///hello"] },
    });
  }
  expect(await asked(one.client, "resources/subscribe", {})).toMatchObject({ code: -32602 });
  expect(await records(rig)).toEqual([]);
  expect([await requestsOf(rig.servers["a"]!), await requestsOf(rig.servers["b"]!)]).toEqual([[], []]);
});

test("what is below a resource is told to its subscribers, in their form", async () => {
  const resources = ["file:///logs", "file:///logs/app.log", "file:///logsmith"].map((uri) => ({ uri, name: uri }));
  const rig = await startRig({ s: { script: { lists: { resources } } } });
  const listeners = await Promise.all(
    ["s+file:///logs", "s_file___logs", "file:///logs"].map(async (uri) => {
      const listener = await startListener(rig.goblin);
      expect(await subscribe(listener, uri)).toEqual({});
      return listener;
    }),
  );
  // Who asked for both is told once, in the words for the resource itself.
  const both = await startListener(rig.goblin);
  for (const uri of ["s+file:///logs", "s_file___logs_app.log"]) expect(await subscribe(both, uri)).toEqual({});
  const touch = (as: string) => rig.servers["s"]!.control("touch", { uri: "file:///logs", as });
  // The second in the list, the third not.
  for (const as of [
    "file:///logs",
    "file:///logs/app.log",
    "file:///logs/new.log",
    "file:///logs#top",
    "file:///logsmith",
  ]) {
    await touch(as);
  }
  await until(() => listeners.every((listener) => listener.updates().length === 4));
  await sleep(QUIET_MS);
  expect(both.updates()).toEqual([
    "s+file:///logs",
    "s_file___logs_app.log",
    "s+file:///logs/new.log",
    "s+file:///logs#top",
  ]);
  expect(listeners.map((listener) => listener.updates())).toEqual([
    ["s+file:///logs", "s+file:///logs/app.log", "s+file:///logs/new.log", "s+file:///logs#top"],
    ["s_file___logs", "s_file___logs_app.log", "s_file___logs_new.log", "s_file___logs_top"],
    ["file:///logs", "file:///logs/app.log", "file:///logs/new.log", "file:///logs#top"],
  ]);
});

test("an update with a giant URI costs nothing", async () => {
  const rig = await startRig({ s: {} });
  const one = await startListener(rig.goblin);
  expect(await subscribe(one, HELLO)).toEqual({});
  await rig.servers["s"]!.control("touch", { uri: "text:///hello", as: `text:///hello${"/".repeat(300_000)}` });
  await rig.servers["s"]!.control("touch", { uri: "text:///hello" });
  await until(() => one.updates().length > 0);
  expect(one.updates()).toEqual([HELLO]);
});

describe("with a connection for each client", () => {
  test("each is subscribed on its own, and hears what its own connection says", async () => {
    const rig = await startRig({ s: { transport: "http", entry: { share: "session" } } });
    const server = rig.servers["s"]!;
    const [one, two, three] = [
      await startListener(rig.goblin),
      await startListener(rig.goblin),
      await startListener(rig.goblin),
    ] as const;
    expect(await subscribe(one, HELLO)).toEqual({});
    expect(await subscribe(two, "s_text___hello")).toEqual({});
    const conns = (await server.events("subscribe")).map(({ conn }) => conn);
    expect(new Set(conns).size).toBe(2);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => one.updates().length === 1 && two.updates().length === 1);
    await sleep(QUIET_MS);
    expect([one.updates(), two.updates(), three.heard()]).toEqual([[HELLO], ["s_text___hello"], []]);
    expect(await unsubscribe(one, HELLO)).toEqual({});
    expect((await server.events("unsubscribe")).map(({ conn }) => conn)).toEqual([conns[0]]);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => two.updates().length === 2);
    expect(one.updates()).toHaveLength(1);
    await two.client.delete();
    await until(async () => (await records(rig)).length === 0);
    // The connection goes with its client.
    await server.waitFor(({ event, conn }) => event === "close" && conn === conns[1]);
  });

  test("a server that cannot be subscribed to tells each client once, whether it has a connection or not", async () => {
    const script = { capabilities: { resources: { subscribe: null } } };
    const rig = await startRig({ s: { transport: "http", script, entry: { share: "session" } } });
    const [one, two] = [await startListener(rig.goblin), await startListener(rig.goblin)];
    await asked(two.client, "tools/call", { name: "s_echo", arguments: {} });
    for (const each of [one, two]) expect(await subscribe(each, HELLO)).toEqual({});
    await rig.servers["s"]!.control("touch", { uri: "text:///hello", force: true });
    await until(() => one.updates().length > 0 && two.updates().length > 0);
    await sleep(QUIET_MS);
    expect([one.updates(), two.updates()]).toEqual([[HELLO], [HELLO]]);
    for (const each of [one, two]) expect(await unsubscribe(each, HELLO)).toEqual({});
    expect(await requestsOf(rig.servers["s"]!)).toEqual(["tools/call"]);
  });

  test("a client without a session is told too", async () => {
    const rig = await startRig({ s: { transport: "http", entry: { share: "session" } } });
    const notifications = { resourceSubscriptions: [HELLO] };
    const stream = await stateless(rig.goblin.url).stream("subscriptions/listen", { notifications });
    await stream.next((m) => m.method === "notifications/subscriptions/acknowledged");
    await rig.servers["s"]!.control("touch", { uri: "text:///hello" });
    expect((await stream.next((m) => m.method === "notifications/resources/updated")).params.uri).toBe(HELLO);
    await stream.close();
    await rig.servers["s"]!.waitFor(({ event }) => event === "unsubscribe");
    expect(await records(rig)).toEqual([]);
  });
});
