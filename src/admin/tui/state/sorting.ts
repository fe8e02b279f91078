/**
 * The order of a list: by any of its columns, in natural order, so that tool_2 is before tool_10.
 *
 * Pure. Invariant: rows without a value come last in both directions, and equal rows keep the order
 * of their names.
 */
import { ownLogLevels } from "../../../mcp/protocol/log-levels.ts";
import type { ListName, Sort } from "./model.ts";
import type { Rows } from "./select.ts";

type Value = string | number | null | undefined;
type Columns<Item> = Readonly<Record<string, (item: Item) => Value>>;

/** By the columns' titles. The first column is the order of a list that was not sorted. */
const sortColumns: { readonly [Name in ListName]: Columns<Rows[Name][number]> } = {
  servers: {
    SERVER: (item) => item.id,
    STATE: (item) => item.state,
    FOR: (item) => -item.since,
    VIA: (item) => item.transport,
    TOOLS: (item) => item.counts.tools,
    RES: (item) => item.counts.resources,
    CALLS: (item) => item.calls,
    ERR: (item) => item.errors,
    P50: (item) => item.latency.p50Ms,
    P99: (item) => item.latency.p99Ms,
    REASON: (item) => item.reason,
  },
  tools: {
    TOOL: (item) => item.name,
    SERVER: (item) => item.serverId,
    DESCRIPTION: (item) => item.description ?? item.title,
    TOKENS: (item) => item.tokens,
    CALLS: (item) => item.calls,
    ERR: (item) => item.errors,
    P50: (item) => item.p50Ms,
  },
  prompts: {
    PROMPT: (item) => item.name,
    ARGUMENTS: (item) => item.arguments.length,
    DESCRIPTION: (item) => item.description ?? item.title,
    CALLS: (item) => item.calls,
  },
  resources: {
    URI: (item) => item.uri,
    NAME: (item) => item.name,
    "MIME TYPE": (item) => item.mimeType,
    SIZE: (item) => item.size,
  },
  templates: {
    PATTERN: (item) => item.uriTemplate,
    NAME: (item) => item.name,
    DESCRIPTION: (item) => item.description,
  },
  logs: {
    TIME: (item) => item.number,
    LEVEL: (item) => ownLogLevels.indexOf(item.level),
    SERVER: (item) => item.server,
    MESSAGE: (item) => item.msg,
  },
  calls: {
    TIME: (item) => item.time,
    OUTCOME: (item) => item.outcome,
    TOOK: (item) => item.ms,
    CALL: (item) => item.name ?? item.method,
    SERVER: (item) => item.serverId,
    CLIENT: (item) => item.client,
  },
};

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Numbers that say how much are read from the top: the first choice is the largest first. */
export function startsDescending(list: ListName, column: string): boolean {
  return list !== "prompts" && /^(TOOLS|RES|CALLS|ERR|P50|P99|TOKENS|SIZE|TOOK|LEVEL|FOR)$/.test(column);
}

/** The order of a list; if nobody sorted it, calls are newest first, and the rest by name. */
export function sortOf(list: ListName, sorts: Readonly<Partial<Record<ListName, Sort>>>): Sort {
  return sorts[list] ?? { column: columnsOf(list)[0] ?? "", descending: list === "calls" };
}

export function columnsOf(list: ListName): string[] {
  return Object.keys(sortColumns[list]);
}

export function sortRows<Name extends ListName>(list: Name, rows: Rows[Name], sort: Sort): Rows[Name] {
  const columns: Columns<Rows[Name][number]> = sortColumns[list];
  const [first = ""] = Object.keys(columns);
  const { column, descending } = sort;
  // Log lines come in their order.
  if (list === "logs" && column === first && !descending) return rows;
  const value = columns[column];
  const name = columns[first];
  if (value === undefined || name === undefined) return rows;
  const sorted = [...rows].sort((a: Rows[Name][number], b: Rows[Name][number]) => {
    return compare(value(a), value(b), descending) || compare(name(a), name(b), false);
  });
  // A sorted copy has the type of the rows, which the compiler cannot know.
  return sorted as unknown as Rows[Name];
}

function compare(a: Value, b: Value, descending: boolean): number {
  const without = (value: Value): boolean => value === null || value === undefined || value === "";
  if (without(a) || without(b)) return Number(without(a)) - Number(without(b));
  const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
  return descending ? -order : order;
}
