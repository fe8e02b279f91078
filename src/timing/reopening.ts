/**
 * How long to wait before a stream is opened again that its server has ended: as long as the server
 * asks for, but never without a pause, and longer and longer while the streams end as soon as they
 * are open.
 */
const SHORTEST_MS = 1000;
const LONGEST_MS = 30_000;
/** A stream that lived so long was worth opening. */
const WORTH_MS = 5000;

export class Reopening {
  readonly #now: () => number;
  #openedAt = 0;
  #vain = 0;
  #askedMs = SHORTEST_MS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  opened(): void {
    this.#openedAt = this.#now();
  }

  /** The stream has ended; `askedMs` is what the server said about the next one, if it did. */
  afterEnd(askedMs: number | undefined): number {
    this.#askedMs = askedMs ?? this.#askedMs;
    const wasWorth = this.#now() - this.#openedAt >= WORTH_MS;
    this.#vain = wasWorth ? 0 : this.#vain + 1;
    const shortest = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(Math.max(0, this.#vain - 1), 16));
    return Math.max(shortest, this.#askedMs);
  }
}

/**
 * For an answer that breaks off again and again: next to nothing at first, since somebody waits for
 * it.
 */
export function shortestPause(breaks: number): number {
  return breaks === 0 ? 0 : Math.min(SHORTEST_MS, 50 * 2 ** Math.min(breaks - 1, 10));
}
