/**
 * Subscriptions when somebody dies, goes or is taken away: a server by kill -9, a client by its
 * socket, a server by the config.
 */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import type { RunningGoblin } from "../../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, until } from "../../fixtures/peers.ts";
import { asked, startListener, startRig } from "./rig.ts";

afterEach(disposeAll);

const HELLO = "s+text:///hello";
const QUIET_MS = 100;

async function recordCount(goblin: RunningGoblin): Promise<number> {
  return (await rawHttp(`${goblin.origin}/api/subscriptions`).send({})).json.items.length;
}

describe.each([
  ["stdio", "all"],
  ["http", "all"],
  ["stdio", "session"],
  ["http", "session"],
] as const)("a server over %s, shared by %s", (transport, share) => {
  test("that is killed and comes back is subscribed to again, and each subscriber is told once", async () => {
    const { goblin, servers } = await startRig({ s: { transport, entry: { share } } });
    const server = servers["s"]!;
    const [one, two, three] = [
      await startListener(goblin),
      await startListener(goblin),
      await startListener(goblin),
    ] as const;
    expect(await asked(one.client, "resources/subscribe", { uri: HELLO })).toEqual({});
    expect(await asked(two.client, "resources/subscribe", { uri: "s_text___hello" })).toEqual({});
    const before = (await server.events("subscribe")).length;
    expect(before).toBe(share === "all" ? 1 : 2);
    await server.restart();
    await until(() => one.updates().length > 0 && two.updates().length > 0, {
      what: "updates that may have been missed",
    });
    await sleep(QUIET_MS);
    expect([one.updates(), two.updates(), three.heard()]).toEqual([[HELLO], ["s_text___hello"], []]);
    // Not only acknowledged: the new process tells of changes.
    await server.control("touch", { uri: "text:///hello" });
    await until(() => one.updates().length === 2 && two.updates().length === 2);
    await sleep(QUIET_MS);
    expect([one.updates().length, two.updates().length, three.heard()]).toEqual([2, 2, []]);
    expect((await server.events("subscribe")).map(({ uri }) => uri).slice(before)).toEqual(
      Array.from({ length: before }, () => "text:///hello"),
    );
    expect(await server.events("unsubscribe")).toEqual([]);
  });
});

test("a client whose own connection stands is not concerned by the end of the shared one", async () => {
  const { goblin, servers } = await startRig({ s: { entry: { share: "session" } } });
  const server = servers["s"]!;
  const one = await startListener(goblin);
  expect(await asked(one.client, "resources/subscribe", { uri: HELLO })).toEqual({});
  const [shared] = await server.events("start");
  process.kill(shared!.pid, "SIGKILL");
  await until(() => goblin.gateway.servers.status("s")?.state === "down");
  await until(() => goblin.gateway.servers.status("s")?.state === "ready");
  await sleep(QUIET_MS);
  expect(one.updates()).toEqual([]);
  await server.control("touch", { uri: "text:///hello" });
  await until(() => one.updates().length > 0);
  expect(await server.events("subscribe")).toHaveLength(1);
});

describe("while its server is away", () => {
  test("a client may subscribe and unsubscribe; what is wanted when it is back is asked for, once", async () => {
    const { goblin, servers } = await startRig({ s: { transport: "http" } });
    const server = servers["s"]!;
    const [one, two] = [await startListener(goblin), await startListener(goblin)];
    expect(await asked(one.client, "resources/subscribe", { uri: HELLO })).toEqual({});
    await server.kill();
    await until(() => goblin.gateway.servers.status("s")?.state === "down");
    expect(await asked(two.client, "resources/subscribe", { uri: "s+blob:///pixel" })).toEqual({});
    expect(await asked(one.client, "resources/unsubscribe", { uri: HELLO })).toEqual({});
    await server.restart();
    await until(() => two.updates().length > 0);
    await sleep(QUIET_MS);
    expect([one.updates(), two.updates()]).toEqual([[], ["s+blob:///pixel"]]);
    const asks = (await server.log()).filter(({ event }) => event === "subscribe" || event === "unsubscribe");
    expect(asks.map(({ event, uri }) => `${event} ${uri}`)).toEqual([
      "subscribe text:///hello",
      "subscribe blob:///pixel",
    ]);
  });
});

/** An HTTP+SSE client whose socket can be torn. */
async function openSse(goblin: RunningGoblin) {
  const stream = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request(goblin.sseUrl, { headers: { accept: "text/event-stream" } }, resolve)
      .on("error", reject)
      .end();
  });
  stream.on("error", () => {});
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const path = await until(() => /data: (\/messages\S+)/.exec(text)?.[1], { what: "the endpoint event" });
  const messages = rawHttp(`${goblin.origin}${path}`);
  const send = (message: object) => messages.post({ jsonrpc: "2.0", ...message });
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  await send({ id: 0, method: "initialize", params });
  await until(() => text.includes('"id":0'));
  await send({ method: "notifications/initialized" });
  return {
    subscribe: async (uri: string) => {
      await send({ id: 1, method: "resources/subscribe", params: { uri } });
      await until(() => text.includes('"id":1,"result"'), { what: "the answer" });
    },
    heard: () => text,
    tear: () => stream.socket.destroy(),
  };
}

describe("a client that is gone", () => {
  test("loses its records; the last one unsubscribes at the server, once", async () => {
    const { goblin, servers } = await startRig({ s: {} });
    const server = servers["s"]!;
    const [torn, ended, stays] = [
      await openSse(goblin),
      await startListener(goblin),
      await startListener(goblin),
    ] as const;
    await torn.subscribe(HELLO);
    for (const { client } of [ended, stays]) {
      expect(await asked(client, "resources/subscribe", { uri: HELLO })).toEqual({});
    }
    expect(await recordCount(goblin)).toBe(3);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => torn.heard().includes('"notifications/resources/updated","params":{"uri":"s+text:///hello"}'));

    torn.tear();
    await until(async () => (await recordCount(goblin)) === 2);
    await ended.client.delete();
    await until(async () => (await recordCount(goblin)) === 1);
    expect(await server.events("unsubscribe")).toEqual([]);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => stays.updates().length === 2);
    expect(ended.updates()).toEqual([HELLO]);

    await stays.client.delete();
    await server.waitFor(({ event }) => event === "unsubscribe");
    expect(await recordCount(goblin)).toBe(0);
    const asks = (await server.log()).filter(({ event }) => event === "subscribe" || event === "unsubscribe");
    expect(asks.map(({ event }) => event)).toEqual(["subscribe", "unsubscribe"]);
  });

  test("in the middle of subscribing leaves nothing behind", async () => {
    const rules = [{ method: "resources/subscribe", do: "late", ms: 200 }];
    const { goblin, servers } = await startRig({ s: { script: { rules } } });
    const { client } = await connectV1({ url: goblin.url });
    const raw = await startListener(goblin);
    void raw.client.call("resources/subscribe", { uri: HELLO }).catch(() => {});
    await servers["s"]!.waitFor(({ event }) => event === "subscribe");
    await raw.client.delete();
    await servers["s"]!.waitFor(({ event }) => event === "unsubscribe");
    expect(await recordCount(goblin)).toBe(0);
    expect((await client.readResource({ uri: HELLO })).contents).toHaveLength(1);
  });
});

describe("a server that is taken away", () => {
  test.each(["removed from the config", "disabled over the API"])("%s: its records go with it", async (how) => {
    const { goblin, servers, client } = await startRig({ s: { transport: "http" }, other: {} });
    const listener = await startListener(goblin);
    for (const uri of [HELLO, "other+text:///hello"]) {
      expect(await asked(listener.client, "resources/subscribe", { uri })).toEqual({});
    }
    if (how.startsWith("removed")) {
      const text = JSON.stringify({ mcpServers: { other: servers["other"]!.entry } });
      await goblin.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
    } else {
      const answer = await rawHttp(`${goblin.origin}/api/servers/s/disable`).post({});
      expect(answer.status).toBe(200);
    }
    await until(async () => (await recordCount(goblin)) === 1);
    await until(() => listener.heard("notifications/resources/list_changed").length === 1);
    expect(await asked(client, "resources/subscribe", { uri: HELLO })).toMatchObject({ code: -32002 });
    expect(await asked(listener.client, "resources/unsubscribe", { uri: HELLO })).toMatchObject({ code: -32002 });
    await servers["s"]!.control("touch", { uri: "text:///hello", force: true });
    await servers["other"]!.control("touch", { uri: "text:///hello" });
    await until(() => listener.updates().length > 0);
    await sleep(QUIET_MS);
    expect(listener.updates()).toEqual(["other+text:///hello"]);
  });
});
