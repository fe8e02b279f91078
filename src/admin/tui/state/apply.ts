/**
 * Applies messages from the gateway: whole lists and batches of events.
 *
 * Invariant: a batch of any size makes at most one new array of each kind, and no list grows
 * without bound.
 */
import type { AdminEvent, Pulse } from "../../api/events.ts";
import type { CallRow, LogEntry, ServerRow } from "../../api/schema.ts";
import type { Loaded } from "./action.ts";
import { browse, callCapacity, type LogRow, logCapacity, type Series, type State, seriesCapacity } from "./model.ts";

export function applyLoaded(state: State, lists: Partial<Loaded>): State {
  const { logs, calls, ...rest } = lists;
  const { mode } = state;
  // A call that waits no longer cannot be answered.
  const isOver = mode.name === "approval" && lists.approvals?.every(({ id }) => id !== mode.id) === true;
  let next: State = {
    ...state,
    ...(isOver && { mode: browse }),
    ...rest,
    known: new Set([...state.known, ...Object.keys(lists)]),
  };
  if (calls !== undefined) next = { ...next, calls: [...calls, ...newer(state.calls, calls)] };
  if (logs !== undefined) next = addLogs({ ...next, logs: [] }, [...logs, ...newer(state.logs, logs)]);
  return next;
}

/** Returns the entries that arrived as events while the list was loading. */
function newer<Entry extends { time: number }>(known: readonly Entry[], list: readonly { time: number }[]): Entry[] {
  const last = list.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  return known.filter((entry) => entry.time > last);
}

export function applyEvents(state: State, events: readonly AdminEvent[]): State {
  let next = state;
  const calls: CallRow[] = [];
  const logs: LogEntry[] = [];
  for (const event of events) {
    switch (event.type) {
      case "state":
        next = applyPulse(next, event.data);
        break;
      case "server":
        next = { ...next, servers: withServer(next.servers, event.data.id, event.data.server) };
        break;
      case "call":
        calls.push(event.data);
        break;
      case "log":
        logs.push(event.data);
        break;
      case "subscriptions":
        next = { ...next, subscriptions: event.data.items };
        break;
      case "sessions":
        next = { ...next, sessions: event.data.items };
        break;
      case "config":
        next = { ...next, gateway: next.gateway && { ...next.gateway, configProblem: event.data.problem } };
        break;
      case "lock":
        next = { ...next, gateway: next.gateway && { ...next.gateway, lock: event.data } };
        break;
      case "approvals":
      case "catalog":
        break; // feed.ts reads the lists again; the event does not contain them.
    }
  }
  return addLogs(addCalls(next, calls), logs);
}

function applyPulse(state: State, pulse: Pulse): State {
  const { uptimeMs, counts, calls, tokens, logLevel } = pulse;
  const gateway = state.gateway && { ...state.gateway, uptimeMs, counts, calls, tokens, logLevel };
  const series: Series = {
    calls: push(state.series.calls, pulse.callsPerSecond),
    latency: push(state.series.latency, pulse.p50Ms),
    errors: push(state.series.errors, pulse.errorsPerSecond),
  };
  return { ...state, gateway, series };
}

function push<T>(values: readonly T[], value: T): readonly T[] {
  return [...values, value].slice(-seriesCapacity);
}

function withServer(servers: readonly ServerRow[], id: string, server: ServerRow | null): readonly ServerRow[] {
  if (server === null) return servers.filter((item) => item.id !== id);
  const known = servers.some((item) => item.id === id);
  if (known) return servers.map((item) => (item.id === id ? server : item));
  return [...servers, server].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function addCalls(state: State, calls: readonly CallRow[]): State {
  if (calls.length === 0) return state;
  return {
    ...state,
    calls: [...state.calls, ...calls].slice(-callCapacity),
    tools: countCalls(state.tools, calls, "tools/call"),
    prompts: countCalls(state.prompts, calls, "prompts/get"),
  };
}

function countCalls<Row extends { name: string; calls: number; errors: number }>(
  rows: readonly Row[],
  calls: readonly CallRow[],
  method: string,
): readonly Row[] {
  const added = new Map<string, { calls: number; errors: number }>();
  for (const call of calls) {
    if (call.method !== method || call.name === null) continue;
    const sum = added.get(call.name) ?? { calls: 0, errors: 0 };
    added.set(call.name, { calls: sum.calls + 1, errors: sum.errors + (call.outcome === "ok" ? 0 : 1) });
  }
  if (added.size === 0) return rows;
  return rows.map((row) => {
    const more = added.get(row.name);
    return more === undefined ? row : { ...row, calls: row.calls + more.calls, errors: row.errors + more.errors };
  });
}

function addLogs(state: State, entries: readonly LogEntry[]): State {
  if (entries.length === 0) return state;
  const rows: LogRow[] = entries.map((entry, index) => ({ ...entry, number: state.nextLog + index }));
  return { ...state, logs: [...state.logs, ...rows].slice(-logCapacity), nextLog: state.nextLog + rows.length };
}
