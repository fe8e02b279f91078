/**
 * How many bytes one client may leave unread, over all its streams and answers together.
 *
 * Unread is what waits for an open stream, and what a full connection has taken but not sent. Kept
 * is what a broken stream may be asked for again. Only unread bytes get a client cut off; kept ones
 * are given up before that.
 */
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

/** The part of the gateway that says how much may wait, and whom to tell when it is more. */
export interface UnreadLimit {
  readonly config: { readonly current: { readonly limits: { readonly unreadBytes: number } } };
  readonly onLimit: OnLimit;
}

export interface BudgetOptions {
  /** How many bytes there may be, now. */
  readonly most: () => number;
  /** The client was cut off, or refused something. */
  readonly struck: () => void;
}

export class UnreadBudget {
  readonly #options: BudgetOptions;
  #unread = 0;
  #kept = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** The budget that `limits.unreadBytes` gives to one client. */
  static of({ config, onLimit }: UnreadLimit): UnreadBudget {
    return new UnreadBudget({
      most: () => config.current.limits.unreadBytes,
      struck: () => onLimit("unreadBytes"),
    });
  }

  /** More than allowed is unread. A message may be large: what counts is what waits before it. */
  get isSpent(): boolean {
    return this.#unread > this.#options.most();
  }

  /** More than allowed is unread or kept. */
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
    this.#options.struck();
  }

  /** What a client gets instead of an answer for which there is no room. */
  get error() {
    return limitExceeded({
      limit: "unreadBytes",
      value: this.#options.most(),
      what: "too much that was sent to this client waits to be read",
      advice: "read the earlier answers first",
    });
  }
}
