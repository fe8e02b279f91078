/**
 * How long things took, as counts in fixed buckets: cheap to add to, small to keep, good enough for
 * percentiles and for Prometheus.
 *
 * Buckets follow the preferred numbers R10 (ten to a decade, each a quarter wider than the last),
 * so a percentile is at most a quarter off, and every bound that Prometheus is shown is one of
 * them: its counts are exact.
 */
const STEPS = [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8];
const FIRST_DECADE = -2; // 0.01 ms
const DECADES = 8; // up to 1000 s

const boundsMs: readonly number[] = Array.from({ length: DECADES }, (_, decade) =>
  STEPS.map((step) => Number((step * 10 ** (FIRST_DECADE + decade)).toPrecision(4))),
).flat();

/** Bounds of the exposed buckets, in milliseconds. */
export const exposedBoundsMs: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000,
];

const upperBounds = Float64Array.from(boundsMs);

export function bucketOf(ms: number): number {
  let low = 0;
  let high = upperBounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ms <= upperBounds[middle]!) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class Latency {
  readonly #counts = new Uint32Array(boundsMs.length + 1);
  #count = 0;
  #sumMs = 0;

  get count(): number {
    return this.#count;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  /** `bucket` is `bucketOf(ms)`, for whoever adds the same time in several places. */
  add(ms: number, bucket = bucketOf(ms)): void {
    this.#counts[bucket]!++;
    this.#count++;
    this.#sumMs += ms;
  }

  /** The time that this share (0 to 1) stayed within; null while nothing was measured. */
  quantile(share: number): number | null {
    if (this.#count === 0) return null;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let i = 0; i < boundsMs.length; i++) {
      const here = this.#counts[i]!;
      if (seen + here >= rank) {
        const from = i === 0 ? 0 : boundsMs[i - 1]!;
        return from + ((boundsMs[i]! - from) * (rank - seen)) / here;
      }
      seen += here;
    }
    return boundsMs.at(-1)!;
  }

  /** How many took no longer than each of the exposed bounds. */
  cumulative(): number[] {
    const result: number[] = [];
    let i = 0;
    let seen = 0;
    for (const bound of exposedBoundsMs) {
      while (i < boundsMs.length && boundsMs[i]! <= bound) seen += this.#counts[i++]!;
      result.push(seen);
    }
    return result;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#sumMs = 0;
  }
}
