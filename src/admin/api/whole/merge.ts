/**
 * Makes one answer of the API from the answers of all workers. Pure.
 *
 * Counts are added. A quantile cannot be: the largest is shown. Of a server that is not the same at
 * all workers, the worst state is shown, and the reason names the worker.
 */
import type { ServerState } from "../../../mcp/protocol/server-states.ts";
import type { RecordingRow } from "../live/schema.ts";
import type { Counts, GatewayState, Moment, PromptRow, ResourceRow, ServerRow, ToolRow } from "../schema.ts";

/** What one worker says. The first one comes first. */
export interface WorkerValue<Value> {
  readonly worker: number;
  readonly value: Value;
}

export interface List<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** From good to bad. */
const SEVERITY: Readonly<Record<ServerState, number>> = {
  ready: 0,
  disabled: 1,
  connecting: 2,
  installing: 3,
  degraded: 4,
  "needs-login": 5,
  down: 6,
  invalid: 7,
};

export function mergeState(said: readonly WorkerValue<GatewayState>[]): GatewayState {
  const states = said.map(({ value }) => value);
  const workers = said.map(({ worker, value }) => {
    const { uptimeMs, counts, calls } = value;
    return { worker, uptimeMs, sessions: counts.sessions, calls };
  });
  // How workers reach each other is nobody else's business.
  const { cluster: _, ...first } = states[0]!;
  return { ...first, ...mergeTotals(states), workers };
}

type Totals = Pick<GatewayState, "calls"> & { readonly counts: Counts };

/** The figures that are added; those of the catalog are the same at all. */
export function mergeTotals(totals: readonly Totals[]): Totals {
  const { counts } = totals[0]!;
  return {
    counts: {
      ...counts,
      ready: Math.min(...totals.map((one) => one.counts.ready)),
      subscriptions: sum(totals, (one) => one.counts.subscriptions),
      sessions: sum(totals, (one) => one.counts.sessions),
    },
    calls: {
      total: sum(totals, ({ calls }) => calls.total),
      errors: sum(totals, ({ calls }) => calls.errors),
      inFlight: sum(totals, ({ calls }) => calls.inFlight),
    },
  };
}

/**
 * Puts the seconds of all workers together. Their clocks tick at different times: each second is
 * added to the nearest one of the worker that knows most of them.
 */
export function mergeHistory(said: readonly WorkerValue<List<Moment>>[]): List<Moment> {
  const lists = said.map(({ value }) => value.items);
  const longest = lists.reduce((one, other) => (other.length > one.length ? other : one));
  const items = longest.map((second) => ({ ...second }));
  for (const list of lists) if (list !== longest) addSeconds(items, list);
  return { items, total: items.length };
}

function addSeconds(items: Moment[], list: readonly Moment[]): void {
  let at = 0;
  for (const second of list) {
    const distance = (index: number): number => Math.abs((items[index]?.time ?? Infinity) - second.time);
    while (distance(at + 1) <= distance(at)) at++;
    const item = items[at];
    if (!item) return;
    item.callsPerSecond += second.callsPerSecond;
    item.errorsPerSecond += second.errorsPerSecond;
    item.p50Ms = largest([item.p50Ms, second.p50Ms]);
    item.p99Ms = largest([item.p99Ms, second.p99Ms]);
  }
}

export function mergeServer(said: readonly WorkerValue<ServerRow>[]): ServerRow {
  const rows = said.map(({ value }) => value);
  const worst = said.reduce((one, other) => (SEVERITY[other.value.state] > SEVERITY[one.value.state] ? other : one));
  const isSame = rows.every(({ state }) => state === worst.value.state);
  const { reason } = worst.value;
  return {
    ...worst.value,
    reason: isSame || reason === null ? reason : `worker ${worst.worker}: ${reason}`,
    calls: sum(rows, ({ calls }) => calls),
    errors: sum(rows, ({ errors }) => errors),
    inFlight: sum(rows, ({ inFlight }) => inFlight),
    queue: sum(rows, ({ queue }) => queue),
    restarts: sum(rows, ({ restarts }) => restarts),
    latency: {
      p50Ms: largest(rows.map(({ latency }) => latency.p50Ms)),
      p99Ms: largest(rows.map(({ latency }) => latency.p99Ms)),
    },
    upgrade: rows.find(({ upgrade }) => upgrade !== null)?.upgrade ?? null,
  };
}

/** All workers record, or none does: the first one tells what and where. */
export function mergeRecording(said: readonly WorkerValue<{ recording: RecordingRow | null }>[]) {
  const rows = said.flatMap(({ value }) => value.recording ?? []);
  const recording = rows[0] && {
    ...rows[0],
    frames: sum(rows, ({ frames }) => frames),
    lost: sum(rows, ({ lost }) => lost),
    bytes: sum(rows, ({ bytes }) => bytes),
  };
  return { recording: recording ?? null };
}

export const mergeServers = (said: readonly WorkerValue<List<ServerRow>>[]): List<ServerRow> =>
  grouped(said, ({ id }) => id, mergeServer);

export const mergeTools = (said: readonly WorkerValue<List<ToolRow>>[]): List<ToolRow> =>
  grouped(
    said,
    ({ name }) => name,
    (same) => {
      const rows = same.map(({ value }) => value);
      return { ...rows[0]!, ...used(rows), p50Ms: largest(rows.map(({ p50Ms }) => p50Ms)) };
    },
  );

export const mergePrompts = (said: readonly WorkerValue<List<PromptRow>>[]): List<PromptRow> =>
  grouped(
    said,
    ({ name }) => name,
    (same) => ({ ...same[0]!.value, ...used(same.map(({ value }) => value)) }),
  );

export const mergeResources = (said: readonly WorkerValue<List<ResourceRow>>[]): List<ResourceRow> =>
  grouped(
    said,
    ({ uri }) => uri,
    (same) => {
      const rows = same.map(({ value }) => value);
      return { ...rows[0]!, subscribers: sum(rows, ({ subscribers }) => subscribers) };
    },
  );

/** Puts lists together whose items are each at one worker. */
export function union<Item>(said: readonly WorkerValue<List<Item>>[]): List<Item> {
  const items = said.flatMap(({ value }) => value.items);
  return { items, total: sum(said, ({ value }) => value.total) };
}

/** The same for items with a time, oldest first. */
export function timeline<Item extends { readonly time: number }>(
  said: readonly WorkerValue<List<Item>>[],
  limit = Number.POSITIVE_INFINITY,
): List<Item> {
  const { items, total } = union(said);
  const sorted = [...items].sort((one, other) => one.time - other.time);
  return { items: sorted.slice(-Math.min(limit, sorted.length)), total };
}

function grouped<Item>(
  said: readonly WorkerValue<List<Item>>[],
  keyOf: (item: Item) => string,
  merge: (same: readonly WorkerValue<Item>[]) => Item,
): List<Item> {
  const groups = new Map<string, WorkerValue<Item>[]>();
  for (const { worker, value } of said) {
    for (const item of value.items) {
      const key = keyOf(item);
      groups.set(key, [...(groups.get(key) ?? []), { worker, value: item }]);
    }
  }
  const items = [...groups.values()].map(merge);
  return { items, total: items.length };
}

const used = (rows: readonly { readonly calls: number; readonly errors: number }[]) => ({
  calls: sum(rows, ({ calls }) => calls),
  errors: sum(rows, ({ errors }) => errors),
});

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
