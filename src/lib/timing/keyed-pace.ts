/**
 * Paces messages that replace each other, by key. A message passes at once, unless its key had one
 * a moment ago. Then it waits a little, and a newer one of the same key replaces it.
 *
 * Invariant: the last message of every key passes. What waits is bounded.
 */
export interface KeyedPaceOptions {
  readonly pass: (key: string, message: string) => void;
  /** No key had a message for a moment, and none waits. */
  readonly idle: () => void;
  /** Replaces the clock. */
  readonly later?: (run: () => void) => void;
}

const MOMENT_MS = 50;
/** If as many keys had a message in one moment, a new moment begins. */
const MAX_RECENT = 1000;

export class KeyedPace {
  readonly #options: KeyedPaceOptions;
  readonly #later: (run: () => void) => void;
  /** The keys with a message in this moment, and the message that waits, if any. */
  #recent = new Map<string, string | undefined>();
  #running = false;

  constructor(options: KeyedPaceOptions) {
    this.#options = options;
    this.#later = options.later ?? ((run) => void setTimeout(run, MOMENT_MS).unref());
  }

  push(key: string, message: string): void {
    if (this.#recent.has(key)) {
      this.#recent.set(key, message);
      return;
    }
    if (this.#recent.size >= MAX_RECENT) this.#passWaiting();
    this.#recent.set(key, undefined);
    this.#options.pass(key, message);
    if (this.#running) return;
    this.#running = true;
    this.#later(() => this.#next());
  }

  #next(): void {
    this.#passWaiting();
    this.#running = this.#recent.size > 0;
    if (this.#running) this.#later(() => this.#next());
    else this.#options.idle();
  }

  /** Begins a new moment with the messages that waited. */
  #passWaiting(): void {
    const before = this.#recent;
    this.#recent = new Map();
    for (const [key, message] of before) {
      if (message === undefined) continue;
      this.#recent.set(key, undefined);
      this.#options.pass(key, message);
    }
  }
}
