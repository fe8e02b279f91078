/**
 * Makes one answer of the API from the answers of all replicas. Pure.
 *
 * Counts are added. Quantiles cannot be added: the largest is shown. A server is shown in its worst
 * state, and the reason names the replica. A row that one replica has carries that replica's name.
 */
import type * as z from "zod";
import type { ServerState } from "../../../mcp/protocol/server-states.ts";
import type { AdminRouteName, adminRoutes } from "../routes.ts";
import type { Counts, GatewayState, Moment, ServerRow } from "../schema.ts";

/** The answer of one replica. That of the replica that was asked comes first. */
export interface ReplicaAnswer<Value> {
  readonly replica: string;
  readonly value: Value;
}

export interface List<Item> {
  items: Item[];
  total: number;
}

interface Circumstances {
  readonly query: Readonly<Record<string, unknown>>;
  /** The replicas that did not answer. */
  readonly silent: readonly string[];
}

type Routes = typeof adminRoutes;
/** The routes whose answers are combined. The event stream has its own way (`combined-feed.ts`). */
export type MergedRouteName = {
  [Name in AdminRouteName]: Routes[Name] extends { replicas: "merge"; response: z.ZodType } ? Name : never;
}[AdminRouteName];
type AnswerOf<Name extends MergedRouteName> = z.infer<Routes[Name]["response"]>;
type Merge<Value> = (answers: readonly ReplicaAnswer<Value>[], circumstances: Circumstances) => Value;

const MAX_LINES = 1000;

export const merges: { readonly [Name in MergedRouteName]: Merge<AnswerOf<Name>> } = {
  getState: mergeState,
  getHistory: mergeHistory,
  listServers: (answers) => grouped(answers, ({ id }) => id, mergeServer),
  getServer: mergeServer,
  listTools: (answers) =>
    grouped(
      answers,
      ({ name }) => name,
      (same) => ({ ...same[0]!.value, ...used(same), p50Ms: largest(same.map(({ value }) => value.p50Ms)) }),
    ),
  listPrompts: (answers) =>
    grouped(
      answers,
      ({ name }) => name,
      (same) => ({ ...same[0]!.value, ...used(same) }),
    ),
  listResources: (answers) =>
    grouped(
      answers,
      ({ uri }) => uri,
      (same) => ({ ...same[0]!.value, subscribers: sum(same, ({ value }) => value.subscribers) }),
    ),
  listSubscriptions: (answers) => union(answers),
  listSessions: (answers) => union(answers),
  listApprovals: (answers) => sorted(union(answers), ({ proposedAt }) => proposedAt),
  listApprovalGrants: (answers) => sorted(union(answers), ({ createdAt }) => createdAt),
  listCalls: (answers) => sorted(union(answers), ({ time }) => time),
  listLogs(answers, { query }) {
    const { items, total } = sorted(union(answers), ({ time }) => time);
    return { items: items.slice(-Number(query["limit"] ?? MAX_LINES)), total };
  },
  getRecording(answers) {
    const rows = answers.flatMap(({ value }) => value.recording ?? []);
    const recording = rows[0] && {
      ...rows[0],
      frames: sum(rows, ({ frames }) => frames),
      lost: sum(rows, ({ lost }) => lost),
      bytes: sum(rows, ({ bytes }) => bytes),
    };
    return { recording: recording ?? null };
  },
};

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

function mergeState(answers: readonly ReplicaAnswer<GatewayState>[], { silent }: Circumstances): GatewayState {
  const states = answers.map(({ value }) => value);
  const [own] = states;
  const { cluster } = own!;
  const replicas = cluster?.replicas.map((row) => ({ ...row, answers: row.answers && !silent.includes(row.id) }));
  return {
    ...own!,
    ...mergeTotals(states),
    configProblem: states.find(({ configProblem }) => configProblem)?.configProblem ?? null,
    lock: { ...own!.lock, differing: Math.max(...states.map(({ lock }) => lock.differing)) },
    ...(cluster && { cluster: { ...cluster, replicas: replicas! } }),
  };
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
 * Adds up the seconds of all replicas. Their clocks tick at different times: each second is added
 * to the nearest one of the replica that knows the most seconds.
 */
export function mergeHistory(answers: readonly ReplicaAnswer<List<Moment>>[]): List<Moment> {
  const lists = answers.map(({ value }) => value.items);
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

export function mergeServer<Row extends ServerRow>(answers: readonly ReplicaAnswer<Row>[]): Row {
  const rows = answers.map(({ value }) => value);
  const worst = answers.reduce((one, other) => (SEVERITY[other.value.state] > SEVERITY[one.value.state] ? other : one));
  const isSame = rows.every(({ state }) => state === worst.value.state);
  const { reason } = worst.value;
  return {
    ...worst.value,
    reason: isSame || reason === null ? reason : `replica ${worst.replica}: ${reason}`,
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

/** Joins lists whose items are each at one replica, and names that replica in each item. */
export function union<Item>(answers: readonly ReplicaAnswer<List<Item>>[]): List<Item & { replica: string }> {
  return {
    items: answers.flatMap(({ replica, value }) => value.items.map((item) => ({ ...item, replica }))),
    total: sum(answers, ({ value }) => value.total),
  };
}

function sorted<Item>({ items, total }: List<Item>, timeOf: (item: Item) => number): List<Item> {
  return { items: items.toSorted((one, other) => timeOf(one) - timeOf(other)), total };
}

/** Merges the items of all lists that have the same key. */
function grouped<Item>(
  answers: readonly ReplicaAnswer<List<Item>>[],
  keyOf: (item: Item) => string,
  merge: (same: readonly ReplicaAnswer<Item>[]) => Item,
): List<Item> {
  const groups = new Map<string, ReplicaAnswer<Item>[]>();
  for (const { replica, value } of answers) {
    for (const item of value.items) {
      const key = keyOf(item);
      const group = groups.get(key);
      if (group) group.push({ replica, value: item });
      else groups.set(key, [{ replica, value: item }]);
    }
  }
  const items = [...groups.values()].map(merge);
  return { items, total: items.length };
}

const used = (same: readonly ReplicaAnswer<{ readonly calls: number; readonly errors: number }>[]) => ({
  calls: sum(same, ({ value }) => value.calls),
  errors: sum(same, ({ value }) => value.errors),
});

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
