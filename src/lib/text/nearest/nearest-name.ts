/**
 * "Did you mean": finds the names nearest to one that does not exist.
 *
 * Names are compared by edit distance, ignoring case and separators; a swap of neighbours is one
 * edit. The first word, usually the server's, may be missing. A name that contains all the words of
 * the request is near as well, regardless of its length. Distant names are never suggested: a wrong
 * suggestion is worse than none.
 *
 * Invariants: the result does not depend on the order of the candidates. Ten thousand candidates
 * take milliseconds, because each distance is computed only up to the limit.
 */
import { createEditDistance } from "./edit-distance.ts";

const SEPARATOR = /[_\-./:]/;
const NOT_ASCII = /[^\0-\x7f]/;
const MAX_NAME = 128;
const MAX_EDITS = 4;
/** The cost of ignoring a name's first word. */
const PREFIX_COST = 0.5;
/** The cost of matching all words, in edits. Left-over characters add up to one more. */
const WORDS_COST = 1.5;

/** The `count` nearest of the candidates, nearest first, equal ones by name. */
export function nearestNames(name: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = bare(name);
  if (wanted === "" || count < 1) return [];
  const words = wordsOf(name);
  const limit = Math.max(2, Math.min(MAX_EDITS, wanted.length / 4)) + PREFIX_COST;
  const distance = createEditDistance();
  const best: { candidate: string; cost: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const worst = best.length < count ? limit : (best[count - 1]?.cost ?? limit);
    const own = bare(candidate);
    let cost = distance(wanted, own, worst);
    const first = candidate.search(SEPARATOR);
    if (first > 0) cost = Math.min(cost, PREFIX_COST + distance(wanted, own.slice(first), worst - PREFIX_COST));
    cost = Math.min(cost, wordsCost(own, wanted, words));
    if (cost > worst) continue;
    const at = best.findIndex((one) => cost < one.cost || (cost === one.cost && candidate < one.candidate));
    best.splice(at < 0 ? best.length : at, 0, { candidate, cost });
    best.length = Math.min(best.length, count);
  }
  return best.map(({ candidate }) => candidate);
}

function wordsCost(own: string, wanted: string, words: readonly string[]): number {
  if (words.length === 0 || own.length < wanted.length) return Number.POSITIVE_INFINITY;
  for (const word of words) if (!own.includes(word)) return Number.POSITIVE_INFINITY;
  return WORDS_COST + (own.length - wanted.length) / own.length;
}

function bare(name: string): string {
  const lower = name.slice(0, MAX_NAME).toLowerCase();
  return lower.replace(NOT_ASCII.test(lower) ? /[^\p{L}\p{N}]+/gu : /[^a-z0-9]+/g, "");
}

/** Returns the words of a name, without single letters, which would match almost everything. */
function wordsOf(name: string): string[] {
  const spaced = name.slice(0, MAX_NAME).replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  return (spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 1);
}
