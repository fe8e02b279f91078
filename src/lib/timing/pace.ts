/**
 * Paces a task that others can request at any time. After a quiet period it runs at once. While
 * requests keep coming, the pause doubles up to a limit.
 */
const FIRST_MS = 50;
const MAX_MS = 10_000;
/** Added to twice the last pause: a gap longer than that counts as quiet. */
const QUIET_MS = 1000;

export class Pace {
  readonly #now: () => number;
  #pauseMs = 0;
  #longestMs = MAX_MS;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Called on a request. Returns the time to wait. */
  begin(): number {
    const quietMs = this.#now() - this.#endedAt;
    if (quietMs > 2 * this.#pauseMs + QUIET_MS) {
      this.#pauseMs = 0;
      return 0;
    }
    this.#pauseMs = Math.min(this.#longestMs, Math.max(FIRST_MS, this.#pauseMs * 2));
    return Math.max(0, Math.ceil(this.#pauseMs - quietMs));
  }

  /** Called when the task is done, with the limit for the next pause. */
  ended(longestMs = MAX_MS): void {
    this.#endedAt = this.#now();
    this.#longestMs = Math.min(longestMs, MAX_MS);
  }
}
