/**
 * The time limit of a call: what moves it, what stops it, what never does; and that both sides
 * are told when the time is up.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Config } from "../../src/config/schema/config.ts";
import { Deadlines } from "../../src/core/calls/stages/deadline.ts";
import type { Route } from "../../src/core/routing/resolve.ts";
import type { Client } from "../../src/mcp/protocol/call.ts";
import { Call } from "../../src/mcp/protocol/call.ts";
import { Flight } from "../../src/mcp/protocol/flight.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, type Scripted, startScripted } from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";
import { LEVEL_KEY, stateless } from "../matrix/stateless.ts";

describe("the clock of a call", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  function start(limits: { limit: number; max: number }) {
    const client = { key: "ada" } as Client;
    const call = new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} });
    const route = { serverId: "one", name: "one_slow", spec: { timeout: "TIMEOUT" } } as Route;
    const timeouts = { callMs: limits.limit, maxCallMs: limits.max };
    const stage = new Deadlines({ current: { timeouts } as Config }, { get: () => undefined });
    const begin = performance.now();
    let expired: number | undefined;
    const flight = new Flight(call);
    call.onCancel(() => {
      expired = performance.now() - begin;
    });
    stage.enter(flight, route);
    return { call, flight, route, stage, clock: flight.deadline!, expired: () => expired };
  }

  test("progress starts it anew, up to the limit on the whole", () => {
    const { clock, expired, call } = start({ limit: 100, max: 250 });
    for (const _ of [1, 2, 3]) {
      vi.advanceTimersByTime(80);
      clock.progress();
    }
    vi.advanceTimersByTime(9);
    expect(expired()).toBe(undefined);
    vi.advanceTimersByTime(100);
    expect([expired(), call.cancelled]).toEqual([250, "timeout"]);
  });

  test("it pauses while a question is open, and starts again after the last answer", () => {
    const { clock, expired } = start({ limit: 100, max: 1000 });
    vi.advanceTimersByTime(50);
    clock.asks();
    clock.asks();
    vi.advanceTimersByTime(300);
    clock.progress();
    clock.answered(true);
    vi.advanceTimersByTime(300);
    clock.answered(true);
    vi.advanceTimersByTime(99);
    expect(expired()).toBe(undefined);
    vi.advanceTimersByTime(1);
    expect([expired(), clock.expiredWhileAsking]).toEqual([750, false]);
  });

  test("it goes on where it stood after a question that may be another call's", () => {
    const { clock, expired } = start({ limit: 100, max: 1000 });
    for (const _ of [1, 2, 3]) {
      vi.advanceTimersByTime(30);
      clock.asks();
      vi.advanceTimersByTime(50);
      clock.answered(false);
    }
    vi.advanceTimersByTime(9);
    expect(expired()).toBe(undefined);
    vi.advanceTimersByTime(1);
    expect([expired(), clock.reached]).toEqual([250, 100]);
  });

  test("a question cannot stop the limit on the whole", () => {
    const { clock, expired } = start({ limit: 100, max: 400 });
    clock.asks();
    vi.advanceTimersByTime(1000);
    expect([expired(), clock.expiredWhileAsking]).toEqual([400, true]);
  });

  test("a limit of its own that is longer than the limit on the whole is not cut short by progress", () => {
    const { clock, expired } = start({ limit: 500, max: 200 });
    vi.advanceTimersByTime(300);
    clock.progress();
    clock.asks();
    clock.answered(true);
    expect(expired()).toBe(undefined);
    vi.advanceTimersByTime(1000);
    expect(expired()).toBe(500);
  });

  test("a call that has left is not cancelled any more, whatever is still reported of it", () => {
    const { flight, route, stage, clock, expired } = start({ limit: 100, max: 200 });
    expect(stage.leave(flight, route, { ok: true, raw: "{}" })).toEqual({ ok: true, raw: "{}" });
    clock.progress();
    clock.asks();
    clock.answered(true);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
    vi.advanceTimersByTime(1000);
    expect([expired(), vi.getTimerCount()]).toEqual([undefined, 0]);
  });
});

describe("end to end", () => {
  afterEach(disposeAll);

  const elicitation = { form: {}, url: {} };
  const say = { action: "accept", content: { name: "Ada" } };
  const ask = { name: "one_ask", arguments: { kind: "elicitation" } };

  interface Options {
    readonly timeouts: Record<string, number>;
    readonly transport?: "stdio" | "http" | "sse";
    readonly era?: "legacy" | "modern";
    readonly script?: Record<string, unknown>;
    readonly entry?: Record<string, unknown>;
  }

  async function start({ timeouts, entry, ...options }: Options): Promise<{ one: Scripted; goblin: RunningGoblin }> {
    const one = await startScripted({ name: "one", ...options });
    return { one, goblin: await startGoblin({ mcpServers: { one: { ...one.entry, ...entry } }, timeouts }) };
  }

  async function session(goblin: RunningGoblin) {
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    return raw;
  }

  const idle = (goblin: RunningGoblin) => goblin.gateway.servers.status("one")?.inFlight === 0;
  const elapsed = (error: { message: string }): number => Number(/within (\d+) ms$/.exec(error.message)?.[1]);

  const wires = variants<Omit<Options, "timeouts">>(
    [
      { transport: "stdio", era: "legacy" },
      { transport: "sse", era: "legacy" },
      { transport: "http", era: "modern" },
    ],
    [
      { transport: "http", era: "legacy" },
      { transport: "stdio", era: "modern" },
    ],
  );

  test.each(wires)(
    "the error names server, tool and time, and the server hears of it ($transport, $era)",
    async (wire) => {
      const { one, goblin } = await start({ timeouts: { callMs: 250 }, ...wire });
      const slow = { name: "one_sleep", arguments: { ms: 60_000 } };
      for (const client of [await session(goblin), stateless(goblin.url)]) {
        const { error } = (await client.call("tools/call", slow)).message;
        expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "one", timeoutMs: 250 } });
        expect(error.message).toMatch(/^Timeout: one_sleep of server "one" gave no answer within \d+ ms$/);
        expect(elapsed(error)).toBeGreaterThanOrEqual(250);
      }
      await one.waitFor((r) => r.event === "aborted" && r["name"] === "sleep");
      if (wire.transport === "stdio" || wire.era === "legacy") {
        const { reason, running } = await one.waitFor((r) => r.event === "cancelled");
        expect([reason, running]).toEqual(["Timed out", true]);
      }
      expect(idle(goblin)).toBe(true);
    },
  );

  test("progress from the server keeps a call alive, but not for longer than maxCallMs", async () => {
    const { one, goblin } = await start({ timeouts: { callMs: 1000, maxCallMs: 6000 } });
    const raw = await session(goblin);
    const progress = (steps: number) => ({
      name: "one_progress",
      arguments: { steps, ms: 100 },
      _meta: { progressToken: "p" },
    });
    const done = await raw.call("tools/call", progress(12));
    expect(done.message.result.content[0].text).toBe("progressed 12");
    const { messages, message } = await raw.call("tools/call", progress(1000));
    expect(message.error).toMatchObject({ code: -32001, data: { serverId: "one", timeoutMs: 6000 } });
    expect(elapsed(message.error)).toBeGreaterThanOrEqual(6000);
    expect(messages.filter(({ method }) => method === "notifications/progress").length).toBeGreaterThan(7);
    await one.waitFor((r) => r.event === "cancelled" && r["running"] === true);
  });

  test("questions of other calls on the connection do not keep a call alive that hangs", async () => {
    const { one, goblin } = await start({ timeouts: { callMs: 1000 } });
    const { client } = await connectV1({ url: goblin.url, elicitation: () => say });
    let refused: unknown;
    const hanging = client.callTool({ name: "one_sleep", arguments: { ms: 60_000 } }).catch((error: unknown) => {
      refused = error;
    });
    await one.waitFor((r) => r.message?.params?.name === "sleep");
    while (refused === undefined) await client.callTool(ask);
    await hanging;
    expect(refused).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "one", timeoutMs: 1000 } });
  });

  describe.each(variants<"stdio" | "http">(["http"], ["stdio"]))(
    "while the client is asked something (a server over %s)",
    (transport) => {
      test("a client with a session may take longer than callMs", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000 }, transport });
        const answer = (): Promise<typeof say> => sleep(1200, say);
        const { client } = await connectV1({ url: goblin.url, elicitation: answer });
        const result = (await client.callTool(ask)) as { content: { text: string }[] };
        expect(JSON.parse(result.content[0]!.text)).toEqual(say);
        expect(await one.events("cancelled")).toEqual([]);
      });

      test("a client without one may take longer than callMs", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000 }, transport });
        const client = stateless(goblin.url, { capabilities: { elicitation } });
        const { inputRequests, requestState } = (await client.call("tools/call", ask)).message.result;
        await sleep(1200);
        const inputResponses = { [Object.keys(inputRequests)[0]!]: say };
        const { message } = await client.call("tools/call", { ...ask, inputResponses, requestState });
        expect(JSON.parse(message.result.content[0].text)).toEqual(say);
        expect(await one.received("tools/call")).toHaveLength(1);
        expect(await one.events("cancelled")).toEqual([]);
      });

      test("a client with a session may not take longer than maxCallMs", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000, maxCallMs: 1200 }, transport });
        const { client } = await connectV1({ url: goblin.url, elicitation: () => new Promise(() => {}) });
        const refused = await client.callTool(ask).catch((error: unknown) => error);
        expect(refused).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "one" } });
        expect(elapsed(refused as Error)).toBeGreaterThanOrEqual(1200);
        await one.waitFor((r) => r.event === "cancelled" && r["reason"] === "Timed out" && r["running"] === true);
        expect(idle(goblin)).toBe(true);
      });

      test("a client without one may not take longer than maxCallMs, and hears so when it comes back", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000, maxCallMs: 1200 }, transport });
        const client = stateless(goblin.url, { capabilities: { elicitation } });
        const { inputRequests, requestState } = (await client.call("tools/call", ask)).message.result;
        await one.waitFor((r) => r.event === "cancelled" && r["reason"] === "Timed out" && r["running"] === true);
        expect(idle(goblin)).toBe(true);
        const inputResponses = { [Object.keys(inputRequests)[0]!]: say };
        const { error } = (await client.call("tools/call", { ...ask, inputResponses, requestState })).message;
        expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "one" } });
        expect(elapsed(error)).toBeGreaterThanOrEqual(1200);
      });

      const late = { rules: [{ method: "tools/call", name: "ask", do: "late", ms: 20_000 }] };

      test("after the answer of a client with a session the clock runs again", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000 }, transport, script: late });
        const { client } = await connectV1({ url: goblin.url, elicitation: () => sleep(600, say) });
        const refused = await client.callTool(ask).catch((error: unknown) => error);
        expect(refused).toMatchObject({ code: -32001, data: { code: "TIMEOUT", timeoutMs: 1000 } });
        expect(elapsed(refused as Error)).toBeGreaterThanOrEqual(1600);
        await one.waitFor((r) => r.event === "cancelled");
      });

      test("after the answer of a client without one the clock runs again", async () => {
        const { one, goblin } = await start({ timeouts: { callMs: 1000 }, transport, script: late });
        const client = stateless(goblin.url, { capabilities: { elicitation } });
        const { inputRequests, requestState } = (await client.call("tools/call", ask)).message.result;
        await sleep(600);
        const inputResponses = { [Object.keys(inputRequests)[0]!]: say };
        const { error } = (await client.call("tools/call", { ...ask, inputResponses, requestState })).message;
        expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", timeoutMs: 1000 } });
        expect(elapsed(error)).toBeGreaterThanOrEqual(1600);
        await one.waitFor((r) => r.event === "cancelled");
      });
    },
  );

  test("a question that may be of either of a client's two calls stops the clock of both", async () => {
    const { one, goblin } = await start({ timeouts: { callMs: 1000 } });
    let questions = 0;
    const answer = async (): Promise<typeof say> => {
      if (++questions === 1) await one.waitFor((r) => r.message?.params?.name === "sleep");
      else await sleep(1500);
      return say;
    };
    const { client } = await connectV1({ url: goblin.url, elicitation: answer });
    const asking = client.callTool({ name: "one_ask", arguments: { kind: "elicitation", rounds: 2 } });
    await one.waitFor((r) => r.message?.method === "elicitation/create");
    const sleeping = client.callTool({ name: "one_sleep", arguments: { ms: 1200 } });
    const [first, second] = (await Promise.all([asking, sleeping])) as { content: { text: string }[] }[];
    expect(JSON.parse(first!.content[0]!.text)).toEqual([say, say]);
    expect(second!.content[0]!.text).toBe("slept 1200");
  });

  test("a client that never answers costs the others nothing: its server is not held for broken", async () => {
    const { goblin } = await start({ timeouts: { callMs: 1000, maxCallMs: 1200 }, transport: "http" });
    const { client } = await connectV1({ url: goblin.url, elicitation: () => new Promise(() => {}) });
    const calls = Array.from({ length: 8 }, () => client.callTool(ask).catch((error: { code: number }) => error.code));
    expect(await Promise.all(calls)).toEqual([-32001, -32001, -32001, -32001, -32001, -32001, -32001, -32001]);
    expect(goblin.gateway.servers.status("one")?.state).toBe("ready");
    const other = await session(goblin);
    const { message } = await other.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
    expect(message.result.structuredContent).toEqual({ text: "x" });
  });

  test("it ends a call that still waits for a connection of its own", async () => {
    const { one, goblin } = await start({
      timeouts: { callMs: 300, connectMs: 20_000 },
      entry: { share: "session" },
    });
    one.setScript({ rules: [{ method: "initialize", do: "hang" }] });
    for (const client of [await session(goblin), stateless(goblin.url)]) {
      const { error } = (await client.call("tools/call", { name: "one_echo", arguments: {} })).message;
      expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "one", timeoutMs: 300 } });
    }
    expect(await one.received("tools/call")).toEqual([]);
    expect(idle(goblin)).toBe(true);
  });

  test("it ends a call that still waits for its log level, and the server hears nothing of that call", async () => {
    const { one, goblin } = await start({
      timeouts: { callMs: 200 },
      script: { rules: [{ method: "logging/setLevel", do: "hang" }] },
    });
    const echo = { name: "one_echo", arguments: {} };
    const { error } = (await stateless(goblin.url).call("tools/call", echo, { meta: { [LEVEL_KEY]: "debug" } }))
      .message;
    expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT" } });
    expect(await one.received("tools/call")).toEqual([]);
    expect(await one.events("cancelled")).toEqual([]);
  });
});
