/**
 * Orders what a search found: entries that answer more of the question first, entries that are
 * named in it before all others, equal ones by name.
 *
 * Must always hold: the order depends on the entries, their scores and the query alone.
 */

import type { SearchDoc } from "./document.ts";
import { fold } from "./words.ts";

export interface Found {
  readonly doc: SearchDoc;
  readonly score: number;
}

/** The first `limit` of what was found, best first. */
export function rank(found: readonly Found[], query: string, limit: number): Found[] {
  const text = query.trim();
  const bare = bareName(text);
  let top = 0;
  for (const { score } of found) top = Math.max(top, score);
  const best: Found[] = [];
  let floor: Found | undefined;
  for (const one of found) {
    const nearness = bare === "" ? 0 : namedBy(one.doc, text, bare);
    const scored = nearness === 0 ? one : { doc: one.doc, score: top + nearness };
    if (floor !== undefined && compare(floor, scored) < 0) continue;
    best.push(scored);
    // Sorting ten thousand weak hits to return five would cost too much, so what is kept is cut
    // back now and then.
    if (best.length < 2 * limit + 64) continue;
    best.sort(compare);
    best.length = limit;
    floor = best.at(-1);
  }
  return best.sort(compare).slice(0, limit);
}

/**
 * 3 for the exposed name, 2 for the original one, 1 for either but for case and separators, 0 for
 * none of these.
 */
function namedBy({ name, originalName }: SearchDoc, text: string, bare: string): number {
  if (name === text) return 3;
  if (originalName === text) return 2;
  // A name without its separators is no longer than with them; that rules most of them out.
  if (originalName.length >= bare.length && bareName(originalName) === bare) return 1;
  return name.length >= bare.length && bareName(name) === bare ? 1 : 0;
}

const bareName = (name: string): string => fold(name).replace(/[^\p{L}\p{N}]+/gu, "");

function compare(a: Found, b: Found): number {
  return b.score - a.score || order(a.doc.name, b.doc.name) || order(a.doc.key, b.doc.key);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
