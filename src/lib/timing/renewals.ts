/**
 * Limits immediate reconnects at a server's request: a few in a row, then the normal backoff
 * applies.
 */
const MAX_RENEWALS = 5;
const WINDOW_MS = 10_000;

export class Renewals {
  #began = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Returns whether the connection may be opened at once. */
  pass(now = performance.now()): boolean {
    if (now - this.#began > WINDOW_MS) {
      this.#began = now;
      this.#count = 0;
    }
    return ++this.#count <= MAX_RENEWALS;
  }
}
