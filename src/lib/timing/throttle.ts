/**
 * Keeps a log readable when the same problem repeats: a few messages per interval pass, and the
 * rest are counted.
 */
export interface ThrottleOptions {
  readonly burst: number;
  readonly everyMs: number;
  readonly now?: () => number;
}

export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #now: () => number;
  #ends = 0;
  #passed = 0;
  #held = 0;

  constructor(options: ThrottleOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Returns undefined to suppress the message. Otherwise returns the number of messages suppressed
   * before it.
   */
  pass(): number | undefined {
    const now = this.#now();
    if (now >= this.#ends) {
      this.#ends = now + this.#options.everyMs;
      this.#passed = 0;
    }
    if (this.#passed >= this.#options.burst) {
      this.#held++;
      return undefined;
    }
    this.#passed++;
    const held = this.#held;
    this.#held = 0;
    return held;
  }
}
