/** Counts what each network does in a minute, and all of them together. Bounded in memory. */
const MINUTE_MS = 60_000;
const MAX_NETWORKS = 10_000;

export interface RateOptions {
  readonly perNetwork: number;
  readonly total: number;
  readonly now: () => number;
}

export class Rate {
  readonly #options: RateOptions;
  readonly #counts = new Map<string, number>();
  #total = 0;
  #ends = 0;

  constructor(options: RateOptions) {
    this.#options = options;
  }

  /** Returns whether the network may do it once more now. */
  pass(network: string): boolean {
    const { now, perNetwork, total } = this.#options;
    if (now() >= this.#ends) {
      this.#ends = now() + MINUTE_MS;
      this.#total = 0;
      this.#counts.clear();
    }
    const count = this.#counts.get(network) ?? 0;
    const isFull = count === 0 && this.#counts.size >= MAX_NETWORKS;
    if (count >= perNetwork || this.#total >= total || isFull) return false;
    this.#counts.set(network, count + 1);
    this.#total++;
    return true;
  }
}
