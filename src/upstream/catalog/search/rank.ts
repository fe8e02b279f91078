/**
 * Orders the hits of a search: entries named in the query first, then by score, equal ones by name.
 * Hits that are far worse than the best one are left out.
 *
 * Invariant: the order depends only on the entries, their scores and the query.
 */

import type { SearchDoc } from "./document.ts";
import { fold } from "./words.ts";

export interface Found {
  readonly doc: SearchDoc;
  readonly score: number;
}

/** Hits below this share of the best score are left out: they share a common word at most. */
const FLOOR_SHARE = 0.1;
/** The share that hits behind the first few need: those answer a part of the question at most. */
const LATER_SHARE = 0.3;
const FEW = 5;

export interface RankOptions {
  readonly query: string;
  readonly limit: number;
  /** Whether hits behind the first few need more. */
  readonly hasLaterFloor: boolean;
}

/** Returns the best `limit` hits, best first. */
export function rank(found: readonly Found[], { query, limit, hasLaterFloor }: RankOptions): Found[] {
  const text = query.trim();
  const bare = bareName(text);
  let top = 0;
  for (const { score } of found) top = Math.max(top, score);
  const best: Found[] = [];
  let floor: Found | undefined;
  for (const one of found) {
    const nearness = bare === "" ? 0 : namedBy(one.doc, text, bare);
    if (nearness === 0 && one.score < top * FLOOR_SHARE) continue;
    const scored = nearness === 0 ? one : { doc: one.doc, score: top + nearness };
    if (floor !== undefined && compare(floor, scored) < 0) continue;
    best.push(scored);
    // Trimmed now and then: sorting ten thousand weak hits to return five would cost too much.
    if (best.length < 2 * limit + 64) continue;
    best.sort(compare);
    best.length = limit;
    floor = best.at(-1);
  }
  return best
    .sort(compare)
    .slice(0, limit)
    .filter(({ score }, i) => i < FEW || !hasLaterFloor || score >= top * LATER_SHARE);
}

/**
 * Returns 3 for the exposed name, 2 for the original one, 1 for either without case and separators,
 * else 0.
 */
function namedBy({ name, originalName }: SearchDoc, text: string, bare: string): number {
  if (name === text) return 3;
  if (originalName === text) return 2;
  // Removing separators never makes a name longer, so the length rules most names out.
  if (originalName.length >= bare.length && bareName(originalName) === bare) return 1;
  return name.length >= bare.length && bareName(name) === bare ? 1 : 0;
}

const bareName = (name: string): string => fold(name).replace(/[^\p{L}\p{N}]+/gu, "");

function compare(a: Found, b: Found): number {
  return b.score - a.score || order(a.doc.name, b.doc.name) || order(a.doc.key, b.doc.key);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
