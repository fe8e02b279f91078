/**
 * Derives a sorted list from an earlier one, in time that depends mostly on the changes.
 */
import { each, type Sliced } from "../../lib/timing/slices.ts";

interface Exposed {
  readonly exposed: string;
}

export function byExposed(a: Exposed, b: Exposed): number {
  return a.exposed < b.exposed ? -1 : 1;
}

/** Above this length, `concat` is faster than pushing one by one. */
const LONG = 2000;

/**
 * Returns the sorted list without the names in `gone` and with the entries in `added`, both sorted.
 * Copies unchanged stretches as a whole.
 */
export function* changedList<T extends Exposed>(
  list: readonly T[],
  gone: readonly string[],
  added: readonly T[],
): Sliced<readonly T[]> {
  const stretches: (readonly T[])[] = [];
  let from = 0;
  let nextGone = 0;
  const keepUntil = (exposed: string): void => {
    const at = firstIndex(list.length, (i) => list[i]!.exposed >= exposed, from);
    if (at > from) stretches.push(list.slice(from, at));
    from = at;
  };
  const dropUntil = (exposed: string | undefined): void => {
    for (; nextGone < gone.length && (exposed === undefined || gone[nextGone]! <= exposed); nextGone++) {
      keepUntil(gone[nextGone]!);
      if (list[from]?.exposed === gone[nextGone]) from++;
    }
  };
  yield* each(added, (entry) => {
    dropUntil(entry.exposed);
    keepUntil(entry.exposed);
    stretches.push([entry]);
  });
  dropUntil(undefined);
  stretches.push(list.slice(from));
  let all: T[] = [];
  for (const stretch of stretches) {
    if (stretch.length > LONG) all = all.concat(stretch);
    else for (const entry of stretch) all.push(entry);
  }
  return all;
}

/** Binary search: the first index for which `holds` is true. */
export function firstIndex(end: number, holds: (index: number) => boolean, from = 0): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
