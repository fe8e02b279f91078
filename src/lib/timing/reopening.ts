/**
 * The delay before reopening a stream that its server ended. It is at least the server's requested
 * delay, and never zero. It grows while streams end right after opening.
 */
const MIN_MS = 1000;
const MAX_MS = 30_000;
/** A stream that lived this long counts as useful. */
const WORTH_MS = 5000;

export class Reopening {
  readonly #now: () => number;
  #openedAt = 0;
  #vain = 0;
  #askedMs = MIN_MS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  opened(): void {
    this.#openedAt = this.#now();
  }

  /** Called when the stream ends. `askedMs` is the server's requested delay, if any. */
  afterEnd(askedMs: number | undefined): number {
    this.#askedMs = askedMs ?? this.#askedMs;
    const wasWorth = this.#now() - this.#openedAt >= WORTH_MS;
    this.#vain = wasWorth ? 0 : this.#vain + 1;
    const shortest = Math.min(MAX_MS, MIN_MS * 2 ** Math.min(Math.max(0, this.#vain - 1), 16));
    return Math.max(shortest, this.#askedMs);
  }
}

/**
 * The pause before resuming a broken answer. The first retry is immediate, since a caller is
 * waiting.
 */
export function shortestPause(breaks: number): number {
  return breaks === 0 ? 0 : Math.min(MIN_MS, 50 * 2 ** Math.min(breaks - 1, 10));
}
