/**
 * The places of the calls that wait, in number and in bytes. No account can take all of them: each
 * gets half of what the others leave.
 */

import { Shares } from "../../lib/structures/shares.ts";
import type { GoblinError } from "../../mcp/protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";

export interface PlaceLimits {
  readonly heldCalls: number;
  readonly heldBytes: number;
}

/** Who takes a place, and how large its call is. */
export interface Placed {
  readonly account: string;
  readonly bytes: number;
}

export class Places {
  readonly #limits: () => PlaceLimits;
  readonly #onLimit: OnLimit;
  readonly #calls = new Shares();
  readonly #bytes = new Shares();

  constructor(limits: () => PlaceLimits, onLimit: OnLimit) {
    this.#limits = limits;
    this.#onLimit = onLimit;
  }

  /** The size of all calls that have a place. */
  get bytes(): number {
    return this.#bytes.total;
  }

  /** @throws GoblinError if there is none left for this account */
  take({ account, bytes }: Placed): void {
    const { heldCalls, heldBytes } = this.#limits();
    if (!this.#calls.take(account, heldCalls)) throw this.#refusal("heldCalls", heldCalls);
    if (this.#bytes.take(account, heldBytes, bytes)) return;
    this.#calls.giveBack(account);
    throw this.#refusal("heldBytes", heldBytes);
  }

  giveBack({ account, bytes }: Placed): void {
    this.#calls.giveBack(account);
    this.#bytes.giveBack(account, bytes);
  }

  #refusal(limit: keyof PlaceLimits, value: number): GoblinError {
    this.#onLimit(limit);
    const what = "too many calls of this token or address wait for a person's approval";
    return limitExceeded({ limit, value, what, advice: "wait until some are answered" });
  }
}
