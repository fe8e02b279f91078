/**
 * A server that goes away and comes back: what was listed stays for a while, calls fail fast or
 * wait a little, subscriptions come back.
 */
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, disposeAll, until } from "../fixtures/peers.ts";
import { startRig } from "./rig.ts";

afterEach(disposeAll);

async function subscriber(url: string) {
  const { client, notifications } = await connectV1({ url });
  await client.subscribeResource({ uri: "bad+text:///hello" });
  return {
    client,
    updates: () =>
      notifications
        .filter(({ method }) => method === "notifications/resources/updated")
        .map(({ params }) => params?.["uri"]),
  };
}

describe("a server that comes back", () => {
  it.each(["stdio", "http", "sse"] as const)(
    "over %s is asked anew for its subscriptions, with one synthetic update",
    async (transport) => {
      const rig = await startRig({ transport });
      const { updates } = await subscriber(rig.goblin.url);
      await rig.bad.restart();
      // Nobody tells an HTTP client that its server is another one now; the next call finds out.
      if (transport === "http")
        await until(async () => (await rig.call("echo", { text: "x" })).result, { everyMs: 100 });
      await until(() => updates().length === 1, { what: "the synthetic update" });
      await until(() => rig.state() === "ready");
      await rig.bad.control("touch", { uri: "text:///hello" });
      await until(() => updates().length === 2, { what: "a real update" });
      expect(updates()).toEqual(["bad+text:///hello", "bad+text:///hello"]);
      await rig.others();
      await rig.leftovers();
    },
  );

  it("with a connection for each session gets this session's subscriptions back", async () => {
    const rig = await startRig({ entry: { share: "session" } });
    const { client, updates } = await subscriber(rig.goblin.url);
    const { structuredContent } = await client.callTool({ name: "bad_whoami", arguments: {} });
    process.kill((structuredContent as { pid: number }).pid, "SIGKILL");
    await until(() => updates().length === 1, { what: "the synthetic update" });
    await rig.bad.control("touch", { uri: "text:///hello" });
    await until(() => updates().length === 2, { what: "a real update" });
    await rig.leftovers();
  });

  it("is not missed when only its standing stream breaks", async () => {
    const rig = await startRig({ transport: "http" });
    const { updates } = await subscriber(rig.goblin.url);
    const streams = async () => (await rig.bad.events("get-stream")).length;
    const before = await streams();
    await rig.bad.control("close_streams");
    await until(async () => (await streams()) > before, { what: "another standing stream" });
    await until(() => updates().length === 1, { what: "the synthetic update" });
    await rig.bad.control("touch", { uri: "text:///hello" });
    await until(() => updates().length === 2, { what: "a real update" });
    expect(await rig.bad.received("initialize")).toHaveLength(1);
    await rig.leftovers();
  });

  it("takes up many calls on one new session when it forgot the old one", async () => {
    const rig = await startRig({ transport: "http", config: { timeouts: { callMs: 30_000 } } });
    await rig.bad.control("drop_sessions");
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => rig.call("echo", { text: `t${n}` })));
    expect(answers.map(({ result }) => result?.structuredContent?.text)).toEqual(
      Array.from({ length: 20 }, (_, n) => `t${n}`),
    );
    expect((await rig.bad.received("initialize")).length).toBe(2);
    await rig.leftovers();
  });
});

describe("a server that is down", () => {
  it("keeps its entries for backends.graceMs, fails calls, and is listed again when it is back", async () => {
    const rig = await startRig({ config: { backends: { graceMs: 500 } } });
    const listed = (): boolean => rig.goblin.gateway.snapshot().tools.find("bad_echo") !== undefined;
    rig.bad.setScript({ start: { crash: 1 } });
    await rig.bad.kill();
    await until(() => rig.state() === "down");
    expect(listed()).toBe(true);
    const { error } = await rig.call("echo", { text: "x" });
    expect(error).toMatchObject({ code: -32011, data: { serverId: "bad", code: "BACKEND_UNAVAILABLE" } });
    expect(error.message).toContain('Server "bad" is unavailable');
    expect(error.data.retryAfterMs).toBeGreaterThanOrEqual(0);
    await until(() => !listed(), { what: "the end of the grace period" });
    await rig.others();
    await rig.recover();
    expect(listed()).toBe(true);
    await rig.leftovers();
  });

  it("lets calls wait for a reconnect that is under way", async () => {
    const rig = await startRig({ config: { timeouts: { callMs: 5000, connectMs: 5000 } } });
    rig.bad.setScript({ start: { delayMs: 500 } });
    const restarted = rig.goblin.gateway.servers.roster.get("bad")!.backend.restart();
    await until(() => rig.state() === "connecting");
    const answers = await Promise.all([1, 2, 3].map((n) => rig.call("echo", { text: `t${n}` })));
    expect(answers.map(({ result }) => result?.structuredContent?.text)).toEqual(["t1", "t2", "t3"]);
    await restarted;
    await rig.leftovers();
  });

  it("that is slow for one client stays open to others: each call ends by its own limit", async () => {
    const rig = await startRig({ config: { timeouts: { callMs: 1000 } } });
    rig.bad.setScript({ rules: [{ method: "tools/call", name: "echo", do: "hang" }] });
    const hanging = await Promise.all(Array.from({ length: 6 }, () => rig.call("echo")));
    expect(hanging.map(({ error }) => error.code)).toEqual([-32001, -32001, -32001, -32001, -32001, -32001]);
    // An error of a tool is an answer like any other.
    expect((await rig.call("tool_error")).result.isError).toBe(true);
    expect(rig.state()).toBe("ready");
    await rig.others();
    await rig.leftovers();
  });
});
