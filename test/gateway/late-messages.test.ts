/**
 * What a server says for a call that is over for its client: it belongs to the client that made
 * that call, or to nobody, and never to the client whose call happens to be under way then. `ada`
 * makes the call that the server goes on speaking for; `bob` is the other one.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, type ScriptedOptions, startScripted, until } from "../fixtures/peers.ts";
import { connectSpeaker, replyOf, type Speaker, type Version, type Way } from "../matrix/speakers.ts";

afterEach(async () => {
  vi.useRealTimers();
  await disposeAll();
});

const CANNOT_TELL = { error: { data: { code: "UNDECIDABLE_CLIENT" } } };

async function start(options: ScriptedOptions, overrides: Record<string, unknown> = {}) {
  const server = await startScripted({ name: "one", ...options });
  const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, share: "all", tools: { overrides } } } });
  const speaker = async (name: string, version: Version, way: Way = "http"): Promise<Speaker> => {
    const made = await connectSpeaker({ goblin, version, way, name });
    await made.wantLogs("debug");
    return made;
  };
  return { server, goblin, speaker };
}

const sleep = (who: Speaker, args: Record<string, unknown>) =>
  who.begin("tools/call", { name: "one_sleep", arguments: args });

/** A call of this client that the server is at work on. */
async function busy(server: Scripted, who: Speaker): Promise<void> {
  sleep(who, { ms: 30_000, of: who.name });
  await server.waitFor((r) => r.message?.params?.arguments?.of === who.name);
}

/** The server speaks; answers with what its question brought. */
async function spoken(server: Scripted, args: Record<string, unknown> = {}): Promise<unknown> {
  const before = (await server.events("ghost")).length;
  await server.control("speak", args);
  return (await until(async () => (await server.events("ghost"))[before], { what: "an answer to the question" }))[
    "brought"
  ];
}

const logs = (who: Speaker) => who.heard.filter((m) => m.method === "notifications/message").map((m) => m.params.data);

/** Whatever is on its way arrives before the answer to this. */
async function settled(who: Speaker): Promise<void> {
  await who.request("tools/list", {});
}

const pairs: [ada: Version, bob: Version][] = [
  ["2025-11-25", "2025-11-25"],
  ["2025-11-25", "2026-07-28"],
  ["2026-07-28", "2025-11-25"],
  ["2026-07-28", "2026-07-28"],
];

describe.each(pairs)("ada speaks %s, bob %s", (one, two) => {
  test.each(["stdio", "sse", "http"] as const)("a call that ada cancelled, over %s", async (transport) => {
    const { server, speaker } = await start({ transport });
    const [ada, bob] = [await speaker("ada", one), await speaker("bob", two)];
    const call = sleep(ada, { ms: 30_000, ghost: true });
    await server.waitFor((r) => r.message?.params?.arguments?.ghost);
    call.cancel();
    await server.waitFor((r) => r.event === "cancelled");
    await busy(server, bob);
    expect(await spoken(server, { text: "ADA'S PIN", via: "get" })).toMatchObject(CANNOT_TELL);
    await settled(bob);
    expect([bob.questions, bob.heard, ada.questions, ada.heard]).toEqual([[], [], [], []]);
  });

  test("a call that timed out", async () => {
    const { server, speaker } = await start({ transport: "stdio" }, { sleep: { timeoutMs: 100 } });
    const [ada, bob] = [await speaker("ada", one), await speaker("bob", two)];
    const timedOut = await sleep(ada, { ms: 30_000, ghost: true }).answer;
    expect(timedOut.error.data.code).toBe("TIMEOUT");
    bob.begin("tools/call", { name: "one_progress", arguments: { ms: 30_000 } });
    await server.waitFor((r) => r.message?.params?.name === "progress");
    expect(await spoken(server, { text: "ADA'S PIN" })).toMatchObject(CANNOT_TELL);
    await settled(bob);
    expect([bob.questions, bob.heard]).toEqual([[], []]);
  });

  test("over HTTP, on the stream of a call that was answered", async () => {
    const { server, speaker } = await start({
      transport: "http",
      script: { http: { keepOpen: true, framing: "sse" } },
    });
    const [ada, bob] = [await speaker("ada", one), await speaker("bob", two)];
    const { result } = await sleep(ada, { ms: 0, ghost: true }).answer;
    expect(result.content[0].text).toBe("slept 0");
    await busy(server, bob);
    const brought = await spoken(server, { text: "for ada" });
    await settled(bob);
    expect([bob.questions, bob.heard]).toEqual([[], []]);
    // A client without a session cannot be reached any more; one with a session is who the server
    // means.
    if (one === "2026-07-28") expect(brought).toMatchObject({ error: { data: { code: "CANCELLED" } } });
    else {
      expect(brought).toEqual({ action: "accept", content: { name: "ada" } });
      expect(logs(ada)).toEqual(["for ada"]);
      expect(ada.questions).toMatchObject([{ params: { message: "for ada" } }]);
    }
  });
});

test("once the server has answered a call that was given up, others are asked again", async () => {
  const { server, speaker } = await start({ transport: "stdio" });
  const [ada, bob] = [await speaker("ada", "2025-11-25"), await speaker("bob", "2025-11-25")];
  const call = sleep(ada, { ms: 30_000, ghost: true });
  await server.waitFor((r) => r.message?.params?.arguments?.ghost);
  call.cancel();
  await server.waitFor((r) => r.event === "cancelled");
  const ask = async () => (await bob.request("tools/call", { name: "one_ask", arguments: { kind: "roots" } })).result;
  expect((await ask()).content[0].text).toContain("UNDECIDABLE_CLIENT");
  await server.control("speak", { answer: true });
  expect((await ask()).content[0].text).toContain('"name":"bob"');
});

test.each([
  ["2025-11-25", "http"],
  ["2026-07-28", "stdio"],
] as const)("a client of %s over %s that cancels a call is still asked in its next one", async (version, way) => {
  const { server, speaker } = await start({ transport: "stdio" });
  const ada = await speaker("ada", version, way);
  const call = sleep(ada, { ms: 30_000 });
  await server.waitFor((r) => r.message?.params?.name === "sleep");
  call.cancel();
  await server.waitFor((r) => r.event === "cancelled");
  const { result } = await ada.request("tools/call", { name: "one_ask", arguments: { kind: "roots" } });
  expect(result.content[0].text).toContain('"name":"ada"');
});

const asking: [kind: string, method: string][] = [
  ["sampling", "sampling/createMessage"],
  ["elicitation", "elicitation/create"],
  ["roots", "roots/list"],
];

/** Asks the client in a call of its own, and has the server log something in another. */
async function worksFor(who: Speaker): Promise<void> {
  for (const [kind, method] of asking) {
    const { result } = await who.request("tools/call", { name: "one_ask", arguments: { kind } });
    expect(JSON.parse(result.content[0].text)).toEqual(replyOf(who.name, { method }));
  }
  const text = `log for ${who.name}`;
  await who.request("tools/call", { name: "one_log", arguments: { level: "error", text } });
  await until(() => logs(who).includes(text), { what: "the log message" });
}

describe.each(["stdio", "sse"] as const)("a server over %s that never answers a cancelled call (C1)", (transport) => {
  const cancelOne = async (server: Scripted, who: Speaker): Promise<void> => {
    const call = sleep(who, { ms: 30_000, of: who.name });
    await server.waitFor((r) => r.message?.params?.arguments?.of === who.name);
    call.cancel();
    await server.waitFor((r) => r.event === "cancelled");
  };
  const startByDefault = async () => {
    const server = await startScripted({ name: "one", transport });
    const goblin = await startGoblin({ mcpServers: { one: server.entry } });
    const speaker = async (name: string, version: Version): Promise<Speaker> => {
      const made = await connectSpeaker({ goblin, version, way: "http", name });
      await made.wantLogs("debug");
      return made;
    };
    return { server, speaker };
  };

  test.each(["2025-11-25", "2026-07-28"] as const)(
    "asks the client of %s that cancelled it at once",
    async (version) => {
      const { server, speaker } = await startByDefault();
      const ada = await speaker("ada", version);
      await worksFor(ada);
      await cancelOne(server, ada);
      await worksFor(ada);
    },
  );

  test.each(pairs)("ada, who speaks %s, cancelled it; bob, who speaks %s, is asked soon", async (one, two) => {
    const { server, speaker } = await startByDefault();
    const [ada, bob] = [await speaker("ada", one), await speaker("bob", two)];
    await worksFor(bob);
    await cancelOne(server, ada);
    await worksFor(ada);
    const later = Date.now() + 5000;
    vi.useFakeTimers({ toFake: ["Date"], now: later });
    await worksFor(bob);
    await worksFor(ada);
  });
});

test("what is said after a client has left does not go to the clients that are left", async () => {
  const { server, goblin, speaker } = await start({ transport: "stdio" });
  const leaving = rawHttp(goblin.url);
  await leaving.initialize();
  await leaving.call("tools/call", { name: "one_echo", arguments: {} });
  await leaving.delete();
  const bob = await speaker("bob", "2025-11-25");
  await server.control("flood", { kind: "message", count: 1 });
  await settled(bob);
  await bob.request("tools/call", { name: "one_log", arguments: { text: "for bob" } });
  await until(() => logs(bob).length > 0);
  expect(logs(bob)).toEqual(["for bob"]);
});
