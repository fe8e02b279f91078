/**
 * A server's lists, stored unchanged: the raw JSON of each entry, so nothing is lost, and its
 * parsed value.
 *
 * Invariant: lists are immutable. A new sync makes new ones.
 */
import type { ListKind } from "../../mcp/protocol/methods.ts";

export interface Definition {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export type ServerLists = Readonly<Record<ListKind, readonly Definition[]>>;

export const emptyLists: ServerLists = { tools: [], prompts: [], resources: [], templates: [] };

/** How long a list may be cached, and by whom. */
export interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

/** The hints for a list whose server sends none. */
export const NO_HINTS: CacheHints = { ttlMs: 0, cacheScope: "private" };

/** Reads the hints of one page. */
export function hintsIn({ ttlMs, cacheScope }: Readonly<Record<string, unknown>>): CacheHints {
  return {
    ttlMs: Number.isInteger(ttlMs) && (ttlMs as number) >= 0 ? (ttlMs as number) : NO_HINTS.ttlMs,
    cacheScope: cacheScope === "public" ? "public" : NO_HINTS.cacheScope,
  };
}

/** Combines the hints of several lists: the shortest time, and private if any list is private. */
export function combineHints(hints: readonly CacheHints[]): CacheHints {
  if (hints.length === 0) return NO_HINTS;
  return {
    ttlMs: Math.min(...hints.map(({ ttlMs }) => ttlMs)),
    cacheScope: hints.every(({ cacheScope }) => cacheScope === "public") ? "public" : "private",
  };
}

const listHints = new WeakMap<readonly Definition[], CacheHints>();

export function setHints(definitions: readonly Definition[], hints: CacheHints): void {
  listHints.set(definitions, hints);
}

export function hintsOf(definitions: readonly Definition[]): CacheHints {
  return listHints.get(definitions) ?? NO_HINTS;
}

/** Returns how long a server's lists may be used before they are fetched again. */
export function timeToLive(lists: ServerLists): number {
  return combineHints(Object.values(lists).flatMap((list) => (list.length > 0 ? [hintsOf(list)] : []))).ttlMs;
}

export function stringOf(definition: Definition, key: string): string | undefined {
  const value = definition.value[key];
  return typeof value === "string" ? value : undefined;
}

/** Returns whether two lists look the same to a client. */
export function sameDefinitions(a: readonly Definition[], b: readonly Definition[]): boolean {
  return a === b || (a.length === b.length && a.every((definition, i) => definition.text === b[i]!.text));
}

const mirroring = new WeakMap<ServerLists, ReadonlyMap<string, unknown>>();

/** Returns a tool's input schema if it repeats arguments in headers. Few tools do. */
export function inputSchemaOf(lists: ServerLists, tool: string): unknown {
  let schemas = mirroring.get(lists);
  if (!schemas) {
    const marked = lists.tools.filter(({ text }) => text.includes('"x-mcp-header"'));
    schemas = new Map(marked.map((definition) => [String(definition.value["name"]), definition.value["inputSchema"]]));
    mirroring.set(lists, schemas);
  }
  return schemas.get(tool);
}
