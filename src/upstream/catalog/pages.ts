/**
 * One pager for all lists: sorted entries in, pages of raw JSON out.
 *
 * Each page is serialised once per snapshot. It ends at the page size, or earlier at the character
 * limit, and has at least one entry. A cursor encodes the sort key of the last entry shown, not a
 * position. Entries that appear or vanish between two pages therefore cause no repeats and no gaps.
 * In the servers' own order a key has no place by itself: if the last entry shown is gone, its old
 * position counts.
 */
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Raw } from "../../mcp/protocol/json-rpc.ts";

export interface PageEntry {
  /** The exposed name or URI: the sort key. Unique, and ordered by code units. */
  readonly exposed: string;
  /** The entry's JSON. */
  readonly text: string;
}

export type ListOrder = "sorted" | "server";

export interface Pager {
  page(cursor: unknown): Raw;
  readonly entries: readonly PageEntry[];
}

/** The most characters in one page, except for a single larger entry. */
const PAGE_CHARACTERS = 4 * 1024 * 1024;

const CURSOR = /^[A-Za-z0-9_-]+$/;

export function createPager(options: {
  readonly member: string;
  readonly entries: readonly PageEntry[];
  readonly pageSize: number;
  readonly order?: ListOrder | undefined;
}): Pager {
  const { member, entries, pageSize } = options;
  const isSorted = options.order !== "server";
  const pages = new Map<number, Raw>();
  /** Where pages begin for a client that reads from the start. */
  let starts: Set<number> | undefined;
  const endAfter = (start: number): number => {
    let size = 0;
    let end = start;
    while (end < entries.length && end - start < pageSize) {
      size += entries[end]!.text.length;
      if (size > PAGE_CHARACTERS && end > start) break;
      end++;
    }
    return end;
  };

  return {
    entries,
    page(cursor) {
      const start = cursor === undefined ? 0 : startAt(entries, decodeCursor(member, cursor), isSorted);
      const known = pages.get(start);
      if (known !== undefined) return known;
      const end = endAfter(start);
      const texts = entries.slice(start, end).map((entry) => entry.text);
      const after = (): Place => [entries[end - 1]!.exposed, isSorted ? undefined : end];
      const next = end < entries.length ? `,"nextCursor":"${encodeCursor(member, after())}"` : "";
      const page = Buffer.from(`{"${member}":[${texts.join(",")}]${next}}`);
      // Only regular page starts are cached: made-up cursors must not fill the memory.
      starts ??= startsOf(entries.length, endAfter);
      if (starts.has(start)) pages.set(start, page);
      return page;
    },
  };
}

function startsOf(length: number, endAfter: (start: number) => number): Set<number> {
  const starts = new Set([0]);
  for (let at = endAfter(0); at < length; at = endAfter(at)) starts.add(at);
  return starts;
}

/** The key of the last entry shown, and in the servers' order the position after it. */
type Place = readonly [key: string, end?: number | undefined];

function encodeCursor(member: string, place: Place): string {
  const [key, end] = place;
  return Buffer.from(JSON.stringify(end === undefined ? [member, key] : [member, key, end])).toString("base64url");
}

function decodeCursor(member: string, cursor: unknown): Place {
  if (typeof cursor === "string" && CURSOR.test(cursor)) {
    try {
      const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
      if (Array.isArray(value) && value[0] === member && typeof value[1] === "string" && value.length <= 3) {
        const end: unknown = value[2];
        if (end === undefined || Number.isSafeInteger(end)) return [value[1], end as number | undefined];
      }
    } catch {
      // Falls through to the one error for all bad cursors.
    }
  }
  throw new GoblinError("INVALID_PARAMS", `Invalid cursor for ${member}: use the nextCursor of an earlier page`);
}

function startAt(entries: readonly PageEntry[], [key, end = 0]: Place, isSorted: boolean): number {
  if (isSorted) return startAfter(entries, key);
  // Most often nothing has changed.
  if (entries[end - 1]?.exposed === key) return end;
  const at = entries.findIndex(({ exposed }) => exposed === key);
  return at === -1 ? Math.min(Math.max(0, end), entries.length) : at + 1;
}

/** Returns the position of the first entry whose key is greater. */
function startAfter(entries: readonly PageEntry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.exposed <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
