/**
 * Histograms of durations for OTLP, by the semantic conventions for MCP.
 *
 * Invariant: the labels are bounded: known methods and versions, configured servers, a few error
 * types.
 */
import { attributes } from "./span.ts";

const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** What is undefined is left out. */
type Labels = Readonly<Record<string, string | number | undefined>>;

interface Histogram {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

export class Durations {
  readonly #name: string;
  readonly #histograms = new Map<string, Histogram>();
  readonly #startedAt = Date.now();

  constructor(name: string) {
    this.#name = name;
  }

  add(seconds: number, labels: Labels): void {
    const key = JSON.stringify(labels);
    let histogram = this.#histograms.get(key);
    if (!histogram) {
      histogram = { labels, counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 };
      this.#histograms.set(key, histogram);
    }
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    histogram.counts[bucket === -1 ? BOUNDS.length : bucket]!++;
    histogram.sum += seconds;
  }

  /** Returns the metric in OTLP's JSON form; undefined if nothing was measured. */
  metric(): object | undefined {
    if (this.#histograms.size === 0) return undefined;
    const times = { startTimeUnixNano: `${this.#startedAt}000000`, timeUnixNano: `${Date.now()}000000` };
    const dataPoints = [...this.#histograms.values()].map(({ labels, counts, sum }) => ({
      ...times,
      count: String(counts.reduce((all, one) => all + one, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: BOUNDS,
      attributes: attributes(labels),
    }));
    return { name: this.#name, unit: "s", histogram: { aggregationTemporality: 2, dataPoints } };
  }
}
