/**
 * Faults while a server is started, connected and listed: the gateway is up in time, the others
 * work, and the server joins when it is well.
 */
import { afterEach, describe, expect, it } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { startRig } from "./rig.ts";

afterEach(disposeAll);

const hang = (method: string) => ({ rules: [{ method, do: "hang" }] });

const cases: [what: string, transport: "stdio" | "http" | "sse", script: Record<string, unknown>, state: string][] = [
  ["a crash at every start", "stdio", { start: { crash: 7 } }, "down"],
  ["a hang at initialize", "stdio", hang("initialize"), "down"],
  ["a hang at initialize", "http", hang("initialize"), "down"],
  ["a hang at initialize", "sse", hang("initialize"), "down"],
  ["a stream without an endpoint", "sse", hang("GET"), "down"],
  ["a hang at notifications/initialized", "http", hang("notifications/initialized"), "down"],
  ["a hang at tools/list", "stdio", hang("tools/list"), "degraded"],
  ["a hang at resources/list", "http", hang("resources/list"), "degraded"],
  ["an error at tools/list", "stdio", { rules: [{ method: "tools/list", do: "error" }] }, "degraded"],
  ["401 at initialize", "http", { rules: [{ method: "initialize", do: "status", status: 401 }] }, "down"],
  ["garbage at the start", "stdio", { start: { garbage: "Welcome to server!" } }, "ready"],
];

describe("while connecting", () => {
  it("each fault concerns its server alone, and each server joins when it is well", async () => {
    const servers: Record<string, Scripted> = {};
    await Promise.all(
      cases.map(async ([, transport, script], n) => {
        servers[`f${n}`] = await startScripted({ name: `f${n}`, transport, script });
      }),
    );
    const rig = await startRig({ servers, config: { timeouts: { connectMs: 6000, startMs: 6000, callMs: 60_000 } } });
    const status = (n: number) => rig.goblin.gateway.servers.status(`f${n}`);
    for (const [n, [what, transport, , state]] of cases.entries()) {
      // One that is down is tried again from time to time.
      await until(() => status(n)?.state === state, { what: `${what} over ${transport} to be ${state}` });
    }
    await rig.others();
    await Promise.all(
      cases.map(async ([what, transport], n) => {
        servers[`f${n}`]!.setScript({});
        if (status(n)?.state !== "ready") await rig.goblin.gateway.servers.roster.get(`f${n}`)?.backend.restart();
        const answer = await rig.raw.call("tools/call", { name: `f${n}_echo`, arguments: { text: what } });
        expect([what, transport, answer.message.result?.structuredContent]).toEqual([what, transport, { text: what }]);
      }),
    );
    await rig.leftovers();
  });

  it("a list that failed is fetched again by itself", async () => {
    const rig = await startRig({ script: { rules: [{ method: "tools/list", do: "error", times: 2 }] } });
    expect(rig.state()).toBe("degraded");
    expect(rig.goblin.gateway.servers.status("bad")?.reason).toContain("tools/list");
    await until(() => rig.state() === "ready", { what: "the list" });
    expect(await rig.call("echo", { text: "x" })).toMatchObject({ result: {} });
    expect(await rig.bad.events("start")).toHaveLength(1);
    await rig.leftovers();
  });

  it("a server that was not there joins when it comes", async () => {
    const server = await startScripted({ name: "late", transport: "http" });
    await server.kill();
    const goblin = await startGoblin({ mcpServers: { late: server.entry } });
    expect(goblin.gateway.servers.status("late")).toMatchObject({ state: "down" });
    expect(goblin.gateway.servers.status("late")?.reason).toContain("cannot be reached");
    await server.restart();
    await until(() => goblin.gateway.servers.status("late")?.state === "ready", { what: "a connection" });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const answer = await raw.call("tools/call", { name: "late_echo", arguments: { text: "x" } });
    expect(answer.message.result.structuredContent).toEqual({ text: "x" });
  });

  it("a server that crashes again and again is started ever more slowly", async () => {
    const server = await startScripted({ name: "mad", script: { start: { crash: 1 } } });
    const goblin = await startGoblin({ mcpServers: { mad: server.entry } });
    const pauses: number[] = [];
    goblin.gateway.servers.on("status", (_id, status) => {
      if (status?.state === "down" && status.retryAfterMs !== undefined) pauses.push(status.retryAfterMs);
    });
    await until(() => pauses.length >= 3, { what: "three pauses" });
    // Twice as long each time, with a quarter of jitter either way.
    const [first = 0, second = 0, third = 0] = pauses;
    expect([first > 300, second > first * 1.1, third > second * 1.1]).toEqual([true, true, true]);
    expect(goblin.gateway.servers.status("mad")?.reason).toContain("exited with code 1");
  });
});
