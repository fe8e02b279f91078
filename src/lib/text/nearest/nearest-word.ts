/**
 * The candidate that a mistyped word most probably meant, or none: a far-fetched guess is worse
 * than no guess.
 */
import { createEditDistance } from "./edit-distance.ts";

export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  const distanceOf = createEditDistance();
  let best: string | undefined;
  // One mistake for each three letters, at least one.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const offered = candidate.toLowerCase();
    const distance = isBeginning(wanted, offered) ? 1 : distanceOf(wanted, offered, bestDistance - 1);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** "warning" for "warn", "subscriptions" for "subscriptionsPerClient". */
function isBeginning(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length > 3 && short.length < long.length && long.startsWith(short);
}
