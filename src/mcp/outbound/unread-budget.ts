/**
 * The number of bytes that one client may leave unread, over all its streams and answers together.
 *
 * Unread bytes wait for an open stream, or were accepted by a full connection but not yet sent.
 * Kept bytes are those that a client may ask for again after its stream broke. Only unread bytes
 * get a client cut off; kept bytes are dropped before that.
 */
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

/** The limit from the config, and the counter to notify when it is exceeded. */
export interface UnreadLimit {
  readonly config: { readonly current: { readonly limits: { readonly unreadBytes: number } } };
  readonly onLimit: OnLimit;
}

export interface BudgetOptions {
  /** The current limit in bytes. */
  readonly most: () => number;
  /** The client was cut off, or refused something. */
  readonly onLimit: () => void;
}

/** The budgets of all clients of a gateway have the same. */
const optionsOf = new WeakMap<UnreadLimit, BudgetOptions>();

export class UnreadBudget {
  readonly #options: BudgetOptions;
  #unread = 0;
  #kept = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** Returns the budget that `unreadBytes` gives one client. */
  static of(limit: UnreadLimit): UnreadBudget {
    let options = optionsOf.get(limit);
    if (!options) {
      const { config, onLimit } = limit;
      options = { most: () => config.current.limits.unreadBytes, onLimit: () => onLimit("unreadBytes") };
      optionsOf.set(limit, options);
    }
    return new UnreadBudget(options);
  }

  /**
   * Whether the unread bytes exceed the limit. One message may be large: only the bytes before it
   * count.
   */
  get isSpent(): boolean {
    return this.#unread > this.#options.most();
  }

  /** Whether the unread and kept bytes together exceed the limit. */
  get isFull(): boolean {
    return this.#unread + this.#kept > this.#options.most();
  }

  change(unread: number, kept: number): void {
    this.#unread += unread;
    this.#kept += kept;
  }

  /** Counts bytes as unread until the returned function is called. */
  hold(bytes: number): () => void {
    this.#unread += bytes;
    return () => {
      this.#unread -= bytes;
    };
  }

  strike(): void {
    this.#options.onLimit();
  }

  /** The error that replaces an answer when the budget is spent. */
  get error() {
    return limitExceeded({
      limit: "unreadBytes",
      value: this.#options.most(),
      what: "this client has too much unread data",
      advice: "read the earlier answers first",
    });
  }
}
