/**
 * Divides long work into slices, so that other events get their turn in between. The work is a
 * generator: it does a part, yields the cost of that part, and continues in a later turn.
 *
 * Invariant: slices are counted, not timed. The same work has the same slices on every machine. A
 * unit of cost is about a microsecond.
 */
export type Sliced<Result> = Generator<number, Result, undefined>;

/** The cost of one slice: a few milliseconds. */
export const SLICE = 4000;
/** The number of elements between two yields. */
const BATCH = 128;
/** A native sort of this many elements is much shorter than a slice. */
const RUN = 512;

/** The cost of reading or writing a text. */
export function textCost(text: string): number {
  return 1 + (text.length >> 7);
}

/** `list.map(map)` in slices. */
export function* mapped<T, R>(
  list: readonly T[],
  map: (element: T, index: number) => R,
  costOf: (element: T) => number = one,
): Sliced<R[]> {
  const results: R[] = [];
  let cost = 0;
  for (let i = 0; i < list.length; i++) {
    results.push(map(list[i]!, i));
    cost += costOf(list[i]!);
    if (cost < BATCH) continue;
    yield cost;
    cost = 0;
  }
  return results;
}

/** Visits each element, in slices. */
export function* each<T>(
  list: readonly T[],
  visit: (element: T, index: number) => void,
  costOf?: (element: T) => number,
): Sliced<void> {
  yield* mapped(list, visit, costOf);
}

/** Returns a sorted copy, in slices. Elements that compare as equal keep their order. */
export function* sorted<T>(list: readonly T[], compare: (a: T, b: T) => number): Sliced<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < list.length; at += RUN) {
    const run = list.slice(at, at + RUN).sort(compare);
    runs.push(run);
    yield 2 * run.length;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const right = runs[i + 1];
      longer.push(right ? yield* merged(runs[i]!, right, compare) : runs[i]!);
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merged<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Sliced<T[]> {
  const all: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    all.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
    if (all.length % BATCH === 0) yield BATCH / 4;
  }
  const rest = l < left.length ? left.slice(l) : right.slice(r);
  for (const element of rest) all.push(element);
  return all;
}

/** Does all the work at once. */
export function finish<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Does one slice of the work. Returns undefined if more is left. */
export function runSlice<Result>(work: Sliced<Result>): { readonly result: Result } | undefined {
  for (let cost = 0; cost < SLICE; ) {
    const step = work.next();
    if (step.done) return { result: step.value };
    cost += step.value;
  }
  return undefined;
}

/** Work that waits for its next slice. */
const waiting: (() => void)[] = [];

/**
 * Does the work slice by slice. Each slice of all such work has a turn of its own, in rotation, so
 * that much work at once makes no turn longer.
 */
export function inSlices<Result>(work: Sliced<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      try {
        const done = runSlice(work);
        if (done) resolve(done.result);
        else waiting.push(next);
      } catch (error) {
        reject(error);
      }
    };
    waiting.push(next);
    if (waiting.length === 1) setImmediate(turn);
  });
}

function turn(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(turn);
}

function one(): number {
  return 1;
}
