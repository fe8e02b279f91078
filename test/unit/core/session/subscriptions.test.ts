import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import type { SessionEvents } from "../../../../src/core/session/store.ts";
import type { SubscriptionRecord } from "../../../../src/core/session/subscription-book.ts";
import { type SubscriptionParts, Subscriptions } from "../../../../src/core/session/subscriptions.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";
import { type Answer, failure } from "../../../../src/mcp/protocol/json-rpc.ts";
import type { ServerEvents } from "../../../../src/upstream/servers/events.ts";
import type { OwnRequest } from "../../../../src/upstream/servers/owner.ts";

const OK: Answer = { ok: true, raw: "{}" };

function book(options: { shared?: boolean; supports?: boolean; limit?: number } = {}) {
  const { shared = true, supports = true, limit = 100 } = options;
  const asked: string[] = [];
  const delivered: string[] = [];
  let answer: () => Answer | Promise<Answer> = () => OK;
  const ask = async (serverId: string, method: string, params: string): Promise<Answer> => {
    asked.push(`${method.slice("resources/".length)} ${serverId} ${JSON.parse(params).uri}`);
    return answer();
  };
  const servers = Object.assign(new EventEmitter<ServerEvents>(), {
    supportsSubscribe: () => supports,
    carrierOf: (_: string, { clientKey, hasSession }: SubscriptionRecord) =>
      shared || !supports || !hasSession ? undefined : clientKey,
    open: () => undefined,
    isUsable: () => true,
    hasOwned: () => false,
    forward: ask,
    own: (serverId: string, { method, params }: OwnRequest) => ask(serverId, method, params),
  });
  const sessions = Object.assign(new EventEmitter<SessionEvents>(), { get: () => undefined });
  const config = { current: { limits: { subscriptionsPerClient: limit } } };
  const parts = { servers, sessions, config, onLimit: () => {} } as unknown as SubscriptionParts;
  const subscriptions = new Subscriptions(parts);
  const record = (clientKey: string, uri: string): SubscriptionRecord => ({
    clientKey,
    serverId: "s",
    uri,
    form: `s+${uri}`,
    since: 0,
    hasSession: true,
    deliver: (updated) => delivered.push(`${clientKey} ${updated}`),
  });
  const flight = (): Flight =>
    new Flight(
      new Call({ method: "resources/subscribe", params: {}, text: "{}", client: {} as Client, emit: () => {} }),
    );
  return {
    subscriptions,
    asked,
    delivered,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    subscribe: (clientKey: string, uri: string) => subscriptions.subscribe(record(clientKey, uri), flight()),
    listen: (clientKey: string, uri: string, account: string) =>
      subscriptions.subscribe({ ...record(clientKey, uri), hasSession: false, account }, undefined),
    unsubscribe: (clientKey: string, uri: string) =>
      subscriptions.unsubscribe({ clientKey, serverId: "s", uri }, flight()),
    update: (uri: string, owner?: string) =>
      servers.emit("updated", { serverId: "s", uri, params: JSON.stringify({ uri }), ownerKey: owner }),
    remove: () => servers.emit("removed", "s"),
  };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a shared server", () => {
  test("is asked by the first subscriber and told off by the last", async () => {
    const { subscribe, unsubscribe, asked, subscriptions } = book();
    await subscribe("ada", "a:///1");
    await subscribe("bob", "a:///1");
    await subscribe("ada", "a:///1");
    expect([asked, subscriptions.size]).toEqual([["subscribe s a:///1"], 2]);
    await unsubscribe("ada", "a:///1");
    await unsubscribe("ada", "a:///1");
    expect(asked).toHaveLength(1);
    await unsubscribe("bob", "a:///1");
    expect(asked).toEqual(["subscribe s a:///1", "unsubscribe s a:///1"]);
    expect(subscriptions.size).toBe(0);
  });

  test("its updates reach every subscriber, also those of something above, and nobody else", async () => {
    const { subscribe, update, delivered } = book();
    await subscribe("ada", "a:///dir/file");
    await subscribe("bob", "a:///dir");
    await subscribe("cy", "a:///dir/file2");
    update("a:///dir/file");
    update("a:///other");
    expect(delivered).toEqual(["ada a:///dir/file", "bob a:///dir/file"]);
  });

  test("a quick unsubscribe does not overtake its subscribe", async () => {
    const { subscribe, unsubscribe, asked, answerWith, subscriptions } = book();
    let release: (answer: Answer) => void = () => {};
    answerWith(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const subscribed = subscribe("ada", "a:///1");
    await settled();
    const unsubscribed = unsubscribe("ada", "a:///1");
    await settled();
    expect(asked).toEqual(["subscribe s a:///1"]);
    answerWith(() => OK);
    release(OK);
    await Promise.all([subscribed, unsubscribed]);
    expect([asked, subscriptions.size]).toEqual([["subscribe s a:///1", "unsubscribe s a:///1"], 0]);
  });

  test("a new subscribe waits until the unsubscribe before it is over", async () => {
    const { subscribe, unsubscribe, asked, answerWith, subscriptions } = book();
    await subscribe("ada", "a:///1");
    let release: (answer: Answer) => void = () => {};
    answerWith(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const unsubscribed = unsubscribe("ada", "a:///1");
    await settled();
    const subscribed = subscribe("bob", "a:///1");
    await settled();
    expect(asked).toEqual(["subscribe s a:///1", "unsubscribe s a:///1"]);
    answerWith(() => OK);
    release(OK);
    await Promise.all([unsubscribed, subscribed]);
    expect([asked.at(-1), asked.length, subscriptions.size]).toEqual(["subscribe s a:///1", 3, 1]);
  });

  test("a refusal is the client's error, and nothing is kept", async () => {
    const { subscribe, answerWith, subscriptions, update, delivered, asked } = book();
    answerWith(() => failure(new Error("no")));
    expect(await subscribe("ada", "a:///1")).toMatchObject({ ok: false });
    expect(subscriptions.size).toBe(0);
    update("a:///1");
    expect(delivered).toEqual([]);
    answerWith(() => OK);
    expect(await subscribe("ada", "a:///1")).toEqual(OK);
    expect(asked).toHaveLength(2);
  });

  test("a client that goes frees all it held", async () => {
    const { subscribe, asked, subscriptions } = book();
    await subscribe("ada", "a:///1");
    await subscribe("ada", "a:///2");
    await subscribe("bob", "a:///2");
    subscriptions.dropClient("ada");
    await settled();
    expect(asked.slice(3)).toEqual([]);
    expect(asked).toEqual(["subscribe s a:///1", "subscribe s a:///2", "unsubscribe s a:///1"]);
    expect(subscriptions.records().map(({ clientKey, uri }) => [clientKey, uri])).toEqual([["bob", "a:///2"]]);
  });

  test("after a new connection it is asked anew, and each subscriber is told once", async () => {
    const { subscribe, asked, delivered, subscriptions } = book();
    await subscribe("ada", "a:///1");
    await subscribe("bob", "a:///1");
    await subscriptions.restored("s");
    expect(asked).toEqual(["subscribe s a:///1", "subscribe s a:///1"]);
    expect(delivered).toEqual(["ada a:///1", "bob a:///1"]);
  });

  test("a server that is removed leaves nothing behind, and is not asked", async () => {
    const { subscribe, asked, subscriptions, update, remove, delivered } = book();
    await subscribe("ada", "a:///1");
    remove();
    update("a:///1");
    expect([asked.length, delivered, subscriptions.size]).toEqual([1, [], 0]);
  });
});

test("over the limit of a client a subscription is not created", async () => {
  const { subscribe, asked, subscriptions } = book({ limit: 2 });
  await subscribe("ada", "a:///1");
  await subscribe("ada", "a:///2");
  const refused = await subscribe("ada", "a:///3");
  expect(refused).toMatchObject({ ok: false, code: -32010, symbol: "LIMIT_EXCEEDED" });
  expect(JSON.parse(refused.raw as string).data).toMatchObject({ code: "LimitExceeded", limit: 2 });
  expect([asked.length, subscriptions.size]).toEqual([2, 2]);
  expect(await subscribe("ada", "a:///2")).toEqual(OK);
  expect(await subscribe("bob", "a:///3")).toEqual(OK);
});

test("a server that cannot be subscribed to is not asked, and its updates are delivered", async () => {
  const { subscribe, unsubscribe, update, asked, delivered } = book({ supports: false });
  await subscribe("ada", "a:///1");
  update("a:///1");
  await unsubscribe("ada", "a:///1");
  update("a:///1");
  expect([asked, delivered]).toEqual([[], ["ada a:///1"]]);
});

test("with connections of their own, clients are subscribed and told one by one", async () => {
  const { subscribe, update, asked, delivered, subscriptions } = book({ shared: false });
  await subscribe("ada", "a:///1");
  await subscribe("bob", "a:///1");
  expect(asked).toEqual(["subscribe s a:///1", "subscribe s a:///1"]);
  update("a:///1", "bob");
  expect(delivered).toEqual(["bob a:///1"]);
  // The connection of a client that is gone goes with it.
  subscriptions.dropClient("ada");
  await settled();
  expect(asked).toHaveLength(2);
});

test("the streams of one account hold at most ten times what one client may; others are not affected", async () => {
  const { subscriptions, listen, subscribe } = book({ limit: 2 });
  const answers: boolean[] = [];
  for (let n = 0; n < 12; n++) {
    for (const uri of ["a:1", "a:2"]) answers.push((await listen(`stream ${n}`, uri, "mallory")).ok);
  }
  expect(answers.filter(Boolean).length).toBe(20);
  expect(await listen("stream 12", "a:1", "mallory")).toMatchObject({
    ok: false,
    raw: expect.stringContaining("the streams of this token or address together"),
  });
  expect((await listen("stream 13", "a:1", "alice")).ok).toBe(true);
  expect((await subscribe("session", "a:1")).ok).toBe(true);
  subscriptions.dropClient("stream 0");
  expect((await listen("stream 12", "a:1", "mallory")).ok).toBe(true);
});

test("a storm of updates of one resource is a few notifications, and the last one is among them", async () => {
  const { subscribe, update, delivered } = book();
  await subscribe("one", "a:1");
  await subscribe("one", "a:2");
  update("a:1");
  for (let n = 0; n < 10_000; n++) update("a:1");
  update("a:2");
  expect(delivered).toEqual(["one a:1", "one a:2"]);
  await expect.poll(() => delivered).toEqual(["one a:1", "one a:2", "one a:1"]);
});
