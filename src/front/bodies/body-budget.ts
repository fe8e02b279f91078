/**
 * The bytes of large request bodies that are held in memory, from their arrival until the calls in
 * them are over. Accounts share them: one that floods holds at most 16 bodies of the largest size,
 * and leaves room for the next.
 *
 * Small bodies are not counted: the limits of calls bound them.
 */
import type { LiveConfig } from "../../config/live-config.ts";
import { Shares } from "../../lib/structures/shares.ts";
import type { GoblinError } from "../../mcp/protocol/errors.ts";
import { limitExceeded } from "../../mcp/protocol/limit-exceeded.ts";

export const SMALL_BODY = 64 * 1024;
/** How many bodies of the largest size one account may hold. */
const BODIES = 16;

export class BodyBudget {
  readonly #config: Pick<LiveConfig, "current">;
  readonly #shares = new Shares();

  constructor(config: Pick<LiveConfig, "current">) {
    this.#config = config;
  }

  hold(account: string): BodyHold {
    return new BodyHold(this.#shares, account, () => 2 * BODIES * this.#config.current.limits.bodyBytes);
  }
}

/** One body. It is given back when its reader has left and all work on it is over. */
export class BodyHold {
  readonly #shares: Shares;
  readonly #account: string;
  readonly #most: () => number;
  #bytes = 0;
  #users = 1;
  #isRead = false;
  #isRefused = false;

  constructor(shares: Shares, account: string, most: () => number) {
    this.#shares = shares;
    this.#account = account;
    this.#most = most;
  }

  /** Whether the account already holds its share. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Returns false if the account holds too much; the body must not be kept then. */
  take(bytes: number): boolean {
    if (this.#isRead || this.#isRefused) return !this.#isRefused;
    this.#isRefused = !this.#shares.take(this.#account, this.#most(), bytes);
    if (!this.#isRefused) this.#bytes += bytes;
    return !this.#isRefused;
  }

  /** Holds the body until this work is over. */
  until(work: Promise<unknown>): void {
    this.#users++;
    const over = (): void => this.#leave();
    work.then(over, over);
  }

  /** The body was read and handed on, or its client has gone. */
  read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#leave();
  }

  #leave(): void {
    if (--this.#users > 0 || this.#bytes === 0) return;
    this.#shares.giveBack(this.#account, this.#bytes);
    this.#bytes = 0;
  }
}

export function bodiesTooLarge(bodyBytes: number): GoblinError {
  return limitExceeded({
    limit: "bodyBytes",
    value: bodyBytes,
    what: `the requests of this token or address that are under way are too large together, more than ${BODIES} of the largest size`,
    advice: "wait for one to be answered",
  });
}
