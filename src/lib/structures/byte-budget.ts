/**
 * A number of bytes that several holders share.
 *
 * Invariant: what is taken never exceeds the limit, except for one holder that is alone: a single
 * message has its own limit.
 */
export class ByteBudget {
  readonly #most: () => number;
  #used = 0;

  constructor(most: () => number) {
    this.#most = most;
  }

  get most(): number {
    return this.#most();
  }

  get used(): number {
    return this.#used;
  }

  /** Returns false if the others leave too little. */
  take(bytes: number, own = 0): boolean {
    if (this.#used > own && this.#used + bytes > this.#most()) return false;
    this.#used += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }
}
