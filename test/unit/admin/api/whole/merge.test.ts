import { expect, it } from "vitest";
import type { ServerRow } from "../../../../../src/admin/api/schema.ts";
import { mergeHistory, mergeServer, timeline } from "../../../../../src/admin/api/whole/merge.ts";

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

it("a server is as bad as it is at the worst worker, which the reason names", () => {
  const down: ServerRow = {
    ...ready,
    state: "down",
    reason: "connection refused",
    calls: 4,
    latency: { p50Ms: null, p99Ms: 20 },
  };
  const merged = mergeServer([
    { worker: 1, value: ready },
    { worker: 2, value: down },
  ]);
  expect(merged).toMatchObject({
    state: "down",
    reason: "worker 2: connection refused",
    calls: 7,
    errors: 2,
    inFlight: 2,
    restarts: 2,
    latency: { p50Ms: 2, p99Ms: 20 },
  });
  const both = mergeServer([
    { worker: 1, value: down },
    { worker: 2, value: down },
  ]);
  expect(both.reason).toBe("connection refused");
});

it("seconds of several workers are added to the nearest ones, and no call is lost", () => {
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
    { worker: 1, value: list(second(3100, 1, null), second(4100, 2, 8)) },
    { worker: 2, value: list(second(1900, 10, 4), second(2900, 20, null), second(3900, 30, 3)) },
    { worker: 3, value: list() },
  ]);
  expect(items.map(({ time, callsPerSecond, p99Ms }) => [time, callsPerSecond, p99Ms])).toEqual([
    [1900, 10, 4],
    [2900, 21, null],
    [3900, 32, 8],
  ]);
  expect(items[2]).toMatchObject({ errorsPerSecond: 2, tokens: { all: 9, own: 1, listed: 5 } });
  expect(total).toBe(3);
});

it("lines of several workers are in the order of time, the newest of them if there are too many", () => {
  const said = [
    { worker: 1, value: { items: [{ time: 1 }, { time: 4 }], total: 2 } },
    { worker: 2, value: { items: [{ time: 2 }, { time: 3 }], total: 2 } },
  ];
  expect(timeline(said, 3)).toEqual({ items: [{ time: 2 }, { time: 3 }, { time: 4 }], total: 4 });
  expect(timeline(said).items).toHaveLength(4);
});
