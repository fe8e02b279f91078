/**
 * The API, its events and the metrics of a gateway with workers show all of them, whichever worker
 * is asked; actions reach the right one, or all.
 */
import { afterEach, expect, it } from "vitest";
import { disposeAll, type RawHttp, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { startWorkers, type Workers } from "../../fixtures/workers.ts";

afterEach(disposeAll);

const HELLO = "one+text:///hello";
const echo = (text: string) => ({ name: "one_echo", arguments: { text } });
const JSON_ONLY = { "content-type": "application/json" };

/** Every request goes to the next worker. */
const originOf = ({ hopping }: Workers) => hopping.replace(/\/mcp$/, "");

// biome-ignore lint/suspicious/noExplicitAny: the API's answers as they come
const api = async (workers: Workers, path: string, body?: object): Promise<any> => {
  const init = body && {
    method: path === "log-level" ? "PUT" : "POST",
    headers: JSON_ONLY,
    body: JSON.stringify(body),
  };
  const answer = await fetch(`${originOf(workers)}/api/${path}`, init);
  return answer.json();
};

/** A handshake takes two requests, so the next session would often be at the same worker. */
async function openSessions(workers: Workers, count: number): Promise<RawHttp[]> {
  const sessions = Array.from({ length: count }, () => rawHttp(workers.hopping));
  for (const raw of sessions) {
    await raw.initialize();
    await fetch(`${originOf(workers)}/health`);
  }
  return sessions;
}

async function metric(workers: Workers, line: RegExp): Promise<number> {
  const text = await (await fetch(`${originOf(workers)}/metrics`)).text();
  return Number(line.exec(text)?.[1]);
}

it("lists, figures and metrics are those of all workers, at each of them", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const workers = await startWorkers(3, { mcpServers: { one: server.entry } });
  const sessions = await openSessions(workers, 4);
  for (const [i, raw] of sessions.entries()) {
    await raw.call("resources/subscribe", { uri: HELLO });
    await raw.call("tools/call", echo(`call ${i}`));
  }
  for (let i = 0; i < 3; i++) {
    expect((await api(workers, "sessions")).total).toBe(4);
    expect((await api(workers, "subscriptions")).items).toHaveLength(4);
    const { items: calls } = await api(workers, "calls");
    const ofTool = calls.filter(({ name }: { name: string }) => name === "one_echo");
    expect(ofTool).toHaveLength(4);
    for (const { requestId } of ofTool) {
      const { params, result } = await api(workers, `calls/${requestId}`);
      expect(result.structuredContent).toEqual(params.arguments);
    }
    const { counts, calls: totals } = await api(workers, "state");
    expect([counts.sessions, counts.subscriptions, counts.servers, counts.ready]).toEqual([4, 4, 1, 1]);
    expect(totals.total).toBeGreaterThanOrEqual(4);
    await until(async () => {
      const { items } = await api(workers, "history");
      const calls = items.map(({ callsPerSecond }: { callsPerSecond: number }) => callsPerSecond);
      return calls.reduce((all: number, one: number) => all + one, 0) >= 4;
    });
    const [row] = (await api(workers, "servers")).items;
    expect([row.id, row.state, row.calls >= 4]).toEqual(["one", "ready", true]);
    expect((await api(workers, "servers/one")).calls).toBe(row.calls);
    const tool = (await api(workers, "tools")).items.find(({ name }: { name: string }) => name === "one_echo");
    expect(tool.calls).toBe(4);
    const resource = (await api(workers, "resources")).items.find(({ uri }: { uri: string }) => uri === HELLO);
    expect(resource.subscribers).toBe(4);
    const numbers = (await api(workers, "logs")).items.map(({ extra }: { extra: { worker: number } }) => extra?.worker);
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3]));
    expect(await metric(workers, /^mcpSessions (\d+)$/m)).toBe(4);
    expect(await metric(workers, /^mcpActiveSubscriptions (\d+)$/m)).toBe(4);
    expect(await metric(workers, /^mcpBuildInfo\{.*\} (\d+)$/m)).toBe(1);
    expect(await metric(workers, /^mcpBackendState\{serverId="one",state="ready"\} (\d+)$/m)).toBe(1);
    const answered = /^mcpRequestsTotal\{serverId="one",method="tools\/call",outcome="ok"\} (\d+)$/m;
    expect(await metric(workers, answered)).toBe(4);
    const timed = /^mcpRequestDurationSeconds_bucket\{serverId="one",method="tools\/call",le="\+Inf"\} (\d+)$/m;
    expect(await metric(workers, timed)).toBe(4);
  }
});

it("workers, the config and the figures of a recording are shown for the whole gateway", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const workers = await startWorkers(2, { mcpServers: { one: server.entry }, limits: { sessions: 10 } });
  await api(workers, "recording", { forMs: 60_000, servers: ["one"] });
  const sessions = await openSessions(workers, 4);
  for (const raw of sessions) await raw.call("tools/call", echo("recorded"));
  const { workers: rows, cluster } = await api(workers, "state");
  expect(cluster).toBeUndefined();
  expect(rows.map(({ worker }: { worker: number }) => worker)).toEqual([1, 2]);
  const held = rows.map(({ sessions }: { sessions: number }) => sessions);
  expect([Math.min(...held) > 0, held[0] + held[1]]).toEqual([true, 4]);
  expect((await api(workers, "config")).limits.sessions).toBe(10);
  // The file is as it was: a worker's share of a limit is no change.
  expect((await api(workers, "config/changes")).settings).toEqual([]);
  // A request and its answer of each client, at whichever worker.
  const frames = async (): Promise<number> => (await api(workers, "recording")).recording.frames;
  await until(async () => (await frames()) >= 8, { what: "messages of all workers" });
  const { recording } = await api(workers, "recording/stop", {});
  expect(recording).not.toBeNull();
  expect(await api(workers, "recording")).toEqual({ recording: null });
});

it("counters do not fall when a worker is replaced", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const workers = await startWorkers(2, { mcpServers: { one: server.entry } });
  const sessions = await openSessions(workers, 3);
  for (const raw of sessions) await raw.call("tools/call", echo("before"));
  const answered = /^mcpRequestsTotal\{serverId="one",method="tools\/call",outcome="ok"\} (\d+)$/m;
  expect(await metric(workers, answered)).toBe(3);
  const killed = workers.pidOf(2);
  process.kill(killed, "SIGKILL");
  await until(() => workers.pidOf(2) !== killed, { what: "another worker" });
  expect(await metric(workers, answered)).toBe(3);
  for (const raw of sessions) await raw.call("tools/call", echo("after"));
  expect(await metric(workers, answered)).toBe(6);
  expect(await metric(workers, /^mcpSessions (\d+)$/m)).toBe(3);
});

it("actions reach all workers, and answers to held calls the one that holds them", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const rules = [{ effect: "ask", tools: ["one/sleep"] }];
  const workers = await startWorkers(2, { mcpServers: { one: server.entry }, policy: { rules } });
  const before = (await server.received("initialize")).length;
  await api(workers, "servers/one/restart", {});
  await until(async () => (await server.received("initialize")).length >= before + 2, { what: "restarts at both" });
  expect(await api(workers, "log-level", { level: "debug" })).toEqual({ level: "debug" });
  const told = async () => (await Promise.all([1, 2].map(() => api(workers, "state")))).map(({ logLevel }) => logLevel);
  expect(await told()).toEqual(["debug", "debug"]);
  const sessions = await openSessions(workers, 2);
  const held = sessions.map((raw, i) =>
    raw.call("tools/call", { name: "one_sleep", arguments: { ms: i + 1 } }, `held ${i}`),
  );
  await until(async () => (await api(workers, "approvals")).total === 2, { what: "both held calls", everyMs: 100 });
  for (const { id, digest } of (await api(workers, "approvals")).items) {
    expect((await api(workers, `approvals/${id}`)).id).toBe(id);
    const allowed = await api(workers, `approvals/${id}/allow`, { for: "once", expect: digest });
    expect(allowed.approval?.id, JSON.stringify(allowed)).toBe(id);
  }
  for (const call of held) expect((await call).message.result).toBeDefined();
});

it("the events are those of all workers, also of one that was replaced", async () => {
  const server = await startScripted({ name: "one", transport: "http" });
  const workers = await startWorkers(2, { mcpServers: { one: server.entry } });
  const leaving = new AbortController();
  const answer = await fetch(`${originOf(workers)}/api/events`, { signal: leaving.signal });
  // biome-ignore lint/suspicious/noExplicitAny: the events as they come
  const events: { type: string; data: any }[] = [];
  const reading = (async () => {
    let text = "";
    for await (const chunk of answer.body!) {
      text += Buffer.from(chunk as Uint8Array).toString("utf8");
      const parts = text.split("\n\n");
      text = parts.pop()!;
      for (const part of parts) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!;
        events.push({ type: type!, data: JSON.parse(data!) });
      }
    }
  })().catch(() => {});
  const last = (type: string) => events.findLast((event) => event.type === type)?.data;
  const sessions = await openSessions(workers, 2);
  await until(() => last("sessions")?.total === 2, { what: "both sessions" });
  for (const raw of sessions) await raw.call("tools/call", echo("x"));
  const calls = () => events.filter(({ type, data }) => type === "call" && data.name === "one_echo").length;
  await until(() => calls() === 2, { what: "both calls" });
  await until(() => last("state")?.counts.sessions === 2 && last("state").calls.total >= 2, { what: "the pulse" });
  const killed = workers.pidOf(2);
  process.kill(killed, "SIGKILL");
  await until(() => workers.pidOf(2) !== killed, { what: "another worker" });
  for (let i = 0; i < 2; i++) await sessions[i]!.call("tools/call", echo("y"));
  await until(() => last("state")?.counts.sessions === 2, { what: "the session at the new worker" });
  leaving.abort();
  await reading;
});

it("no client can ask as a worker does", async () => {
  const admin = { tokens: ["admin-token-0123456789"] };
  const workers = await startWorkers(2, { mcpServers: {}, gateway: { admin } });
  const by = Buffer.from(JSON.stringify({ id: "x", name: "x", isAdmin: true })).toString("base64url");
  for (const path of ["/api/state", "/worker/metrics", "/api/events"])
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(originOf(workers) + path, { headers: { "goblin-asked": by } });
      expect([401, 404]).toContain(answer.status);
    }
});
