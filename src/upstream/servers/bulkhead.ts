/**
 * How many requests one server may have under way, and how many may wait for a place. One slow
 * server fills its own bulkhead and nobody else's.
 *
 * Invariants: no account takes more than its share of the places, to run or to wait, so another
 * one finds a place at once. No place in an account's share is free while the account waits.
 * Accounts take turns: while one waits, no other is served twice before it, unless the first has
 * its share. A request that is cancelled while it waits gives up its place, and nothing of it is
 * kept.
 */

import { isInShare } from "../../lib/structures/shares.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";

export interface BulkheadLimits {
  readonly inFlight: number;
  readonly queue: number;
}

/** Lets a request that waited go on. */
type Waiter = () => void;

interface Account {
  readonly name: string;
  inFlight: number;
  /** In the order in which they came. */
  readonly waiting: Set<Waiter>;
}

/** Accounts that have nothing here are forgotten when there are this many. */
const MANY = 1024;

export class Bulkhead {
  readonly #onLimit: OnLimit;
  #limits: BulkheadLimits;
  /** The part of the places that this gateway has, if it shares them with others. */
  #part = Number.POSITIVE_INFINITY;
  /** How many requests may be under way now. */
  #most: number;
  #active = 0;
  #queued = 0;
  readonly #accounts = new Map<string, Account>();
  /** The account that was looked up last; mostly it is the next one too. */
  #last: Account | undefined;
  /** The accounts that wait. The one that was served longest ago comes first. */
  readonly #turns = new Set<Account>();
  #many = MANY;

  constructor(limits: BulkheadLimits, onLimit: OnLimit) {
    this.#limits = limits;
    this.#most = limits.inFlight;
    this.#onLimit = onLimit;
  }

  get active(): number {
    return this.#active;
  }

  get queued(): number {
    return this.#queued;
  }

  configure(limits: BulkheadLimits): void {
    this.#limits = limits;
    this.#resize();
  }

  /** Limits this gateway to its part of the places. */
  grant(part: number): void {
    if (part === this.#part) return;
    this.#part = part;
    this.#resize();
  }

  #resize(): void {
    this.#most = Math.min(this.#limits.inFlight, this.#part);
    this.#serve();
  }

  /**
   * Undefined: there is a place, and it is taken. Otherwise resolves when there is one. Throws when
   * the request may not wait.
   */
  enter(call: Call, serverId: string): Promise<void> | undefined {
    const account = this.#accountOf(call.client.account);
    if (this.#hasPlace(account)) {
      this.#active++;
      account.inFlight++;
      return undefined;
    }
    this.#onLimit("inFlightPerServer");
    if (!isInShare(account.waiting.size, this.#limits.queue - this.#queued)) throw this.#refusal(account, serverId);
    return new Promise((resolve, reject) => {
      account.waiting.add(resolve);
      this.#turns.add(account);
      this.#queued++;
      call.onCancel(() => {
        if (!account.waiting.delete(resolve)) return;
        if (account.waiting.size === 0) this.#turns.delete(account);
        this.#queued--;
        reject(new GoblinError("CANCELLED", "Cancelled before it was sent"));
      });
    });
  }

  /** The request has given its place up. */
  leave(call: Call): void {
    this.#accountOf(call.client.account).inFlight--;
    this.#active--;
    if (this.#queued > 0) this.#serve();
  }

  #serve(): void {
    for (let account = this.#next(); account; account = this.#next()) {
      const [next] = account.waiting;
      account.waiting.delete(next!);
      this.#turns.delete(account);
      if (account.waiting.size > 0) this.#turns.add(account);
      this.#queued--;
      this.#active++;
      account.inFlight++;
      next!();
    }
  }

  /** Whose turn it is. Undefined: no account that waits may have a place. */
  #next(): Account | undefined {
    for (const account of this.#turns) if (this.#hasPlace(account)) return account;
    return undefined;
  }

  #hasPlace({ inFlight }: Account): boolean {
    return isInShare(inFlight, this.#most - this.#active);
  }

  #accountOf(name: string): Account {
    if (this.#last?.name === name) return this.#last;
    const account = this.#accounts.get(name) ?? this.#newAccount(name);
    this.#last = account;
    return account;
  }

  #newAccount(name: string): Account {
    if (this.#accounts.size >= this.#many) {
      for (const [idle, { inFlight, waiting }] of this.#accounts) {
        if (inFlight === 0 && waiting.size === 0) this.#accounts.delete(idle);
      }
      this.#many = Math.max(MANY, this.#accounts.size * 2);
    }
    const account = { name, inFlight: 0, waiting: new Set<Waiter>() };
    this.#accounts.set(name, account);
    return account;
  }

  #refusal({ waiting }: Account, serverId: string): GoblinError {
    this.#onLimit("queuePerServer");
    const { queue } = this.#limits;
    const isFull = this.#queued >= queue;
    const why = isFull
      ? "no room for more to wait"
      : `this token or address its share of those that wait, ${waiting.size}`;
    return limitExceeded({
      limit: "queuePerServer",
      value: queue,
      what: `server "${serverId}" has ${this.#active} calls under way (limits.inFlightPerServer) and ${why}`,
      advice: "try again later",
      data: { serverId },
    });
  }
}
