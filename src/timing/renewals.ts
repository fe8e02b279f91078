/**
 * How often a connection may be made anew without a pause because its server wants another one: a
 * few times in a row, then like any other that broke.
 */
const MOST = 5;
const WINDOW_MS = 10_000;

export class Renewals {
  #began = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Whether the connection may be made at once. */
  pass(now = performance.now()): boolean {
    if (now - this.#began > WINDOW_MS) {
      this.#began = now;
      this.#count = 0;
    }
    return ++this.#count <= MOST;
  }
}
