/**
 * How long to wait before something is done again that somebody else can ask for at any time: not
 * at all after a while of quiet, and longer and longer for as long as it keeps being asked for.
 */
const FIRST_MS = 50;
const LONGEST_MS = 10_000;
/** It was quiet if nobody asked for this much longer than the last pause. */
const QUIET_MS = 1000;

export class Pace {
  readonly #now: () => number;
  #pauseMs = 0;
  #longestMs = LONGEST_MS;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** It is asked for; answers how long it has to wait. */
  begin(): number {
    const quietMs = this.#now() - this.#endedAt;
    if (quietMs > 2 * this.#pauseMs + QUIET_MS) {
      this.#pauseMs = 0;
      return 0;
    }
    this.#pauseMs = Math.min(this.#longestMs, Math.max(FIRST_MS, this.#pauseMs * 2));
    return Math.max(0, Math.ceil(this.#pauseMs - quietMs));
  }

  /** It was done; the next pause is at most so long. */
  ended(longestMs = LONGEST_MS): void {
    this.#endedAt = this.#now();
    this.#longestMs = Math.min(longestMs, LONGEST_MS);
  }
}
