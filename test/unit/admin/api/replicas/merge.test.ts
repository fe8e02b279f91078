import { expect, it } from "vitest";
import { mergeHistory, mergeServer, merges } from "../../../../../src/admin/api/replicas/merge.ts";
import type { ServerRow } from "../../../../../src/admin/api/schema.ts";

const ready: ServerRow = {
  id: "one",
  state: "ready",
  reason: null,
  since: 5,
  transport: "http",
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "one" },
  counts: { tools: 1, prompts: 0, resources: 0, templates: 0 },
  tokens: 10,
  calls: 3,
  errors: 1,
  inFlight: 1,
  queue: 0,
  latency: { p50Ms: 2, p99Ms: 9 },
  restarts: 1,
  upgrade: null,
};

it("a server is shown in its worst state, and the reason names that replica", () => {
  const down: ServerRow = {
    ...ready,
    state: "down",
    reason: "connection refused",
    calls: 4,
    latency: { p50Ms: null, p99Ms: 20 },
  };
  const merged = mergeServer([
    { replica: "r1", value: ready },
    { replica: "r2", value: down },
  ]);
  expect(merged).toMatchObject({
    state: "down",
    reason: "replica r2: connection refused",
    calls: 7,
    errors: 2,
    inFlight: 2,
    restarts: 2,
    latency: { p50Ms: 2, p99Ms: 20 },
  });
  const both = mergeServer([
    { replica: "r1", value: down },
    { replica: "r2", value: down },
  ]);
  expect(both.reason).toBe("connection refused");
});

it("adds the seconds of several replicas to the nearest ones, and loses no call", () => {
  const second = (time: number, calls: number, p99Ms: number | null) => ({
    time,
    tokens: { all: 9, own: 1, listed: 5 },
    callsPerSecond: calls,
    errorsPerSecond: 1,
    p50Ms: null,
    p99Ms,
  });
  const list = (...items: ReturnType<typeof second>[]) => ({ items, total: items.length });
  const { items, total } = mergeHistory([
    { replica: "r1", value: list(second(3100, 1, null), second(4100, 2, 8)) },
    { replica: "r2", value: list(second(1900, 10, 4), second(2900, 20, null), second(3900, 30, 3)) },
    { replica: "r3", value: list() },
  ]);
  expect(items.map(({ time, callsPerSecond, p99Ms }) => [time, callsPerSecond, p99Ms])).toEqual([
    [1900, 10, 4],
    [2900, 21, null],
    [3900, 32, 8],
  ]);
  expect(items[2]).toMatchObject({ errorsPerSecond: 2, tokens: { all: 9, own: 1, listed: 5 } });
  expect(total).toBe(3);
});

it("sorts the log lines of several replicas by time, names each replica, and keeps the newest", () => {
  const line = (time: number) => ({ time, level: "info" as const, server: null, msg: "said" });
  const answers = [
    { replica: "r1", value: { items: [line(1), line(4)], total: 2 } },
    { replica: "r2", value: { items: [line(2), line(3)], total: 2 } },
  ];
  const { items, total } = merges.listLogs(answers, { query: { limit: 3 }, silent: [] });
  expect(items.map(({ time, replica }) => [time, replica])).toEqual([
    [2, "r2"],
    [3, "r2"],
    [4, "r1"],
  ]);
  expect(total).toBe(4);
  expect(merges.listLogs(answers, { query: {}, silent: [] }).items).toHaveLength(4);
});
