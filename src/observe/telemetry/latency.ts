/**
 * A latency histogram with fixed buckets: cheap to update, small, and precise enough for
 * percentiles and Prometheus.
 *
 * Buckets follow the R10 series of preferred numbers: ten per decade, each about a quarter wider
 * than the last. A percentile is therefore off by at most a quarter. Every bound that Prometheus
 * sees is a bucket bound, so its counts are exact.
 */
const STEPS = [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8];
const FIRST_DECADE = -2; // 0.01 ms
const DECADES = 8; // up to 1000 s

/** What OpenTelemetry's semantic conventions for MCP ask for, in milliseconds. */
export const conventionalBoundsMs: readonly number[] = [
  10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000,
];

const preferredMs = Array.from({ length: DECADES }, (_, decade) =>
  STEPS.map((step) => Number((step * 10 ** (FIRST_DECADE + decade)).toPrecision(4))),
).flat();
const boundsMs: readonly number[] = [...new Set([...preferredMs, ...conventionalBoundsMs])].sort((a, b) => a - b);

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

  /** `bucket`: `bucketOf(ms)`, for callers that add one value to several histograms. */
  add(ms: number, bucket = bucketOf(ms)): void {
    this.#counts[bucket]!++;
    this.#count++;
    this.#sumMs += ms;
  }

  /**
   * Returns the time within which this share (0 to 1) of the values lies; null if there are none.
   */
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

  /** Returns the number of values up to each of these bounds. */
  cumulative(bounds: readonly number[] = exposedBoundsMs): number[] {
    const result: number[] = [];
    let i = 0;
    let seen = 0;
    for (const bound of bounds) {
      while (i < boundsMs.length && boundsMs[i]! <= bound) seen += this.#counts[i++]!;
      result.push(seen);
    }
    return result;
  }

  /** Adds (1) or takes away (-1) all values of another one. */
  combine(other: Latency, sign: 1 | -1): void {
    for (let i = 0; i < this.#counts.length; i++) this.#counts[i]! += sign * other.#counts[i]!;
    this.#count += sign * other.#count;
    this.#sumMs += sign * other.#sumMs;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#sumMs = 0;
  }
}
