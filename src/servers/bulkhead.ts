/**
 * How many requests one server may have under way, and how many may wait for a place. One slow
 * server fills its own bulkhead and nobody else's. A request that is cancelled while it waits gives
 * its place up.
 */
import type { Call } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

export interface BulkheadLimits {
  readonly inFlight: number;
  readonly queue: number;
}

interface Waiter {
  readonly resolve: () => void;
  gone: boolean;
}

export class Bulkhead {
  readonly #onLimit: OnLimit;
  #limits: BulkheadLimits;
  #active = 0;
  #waiting = 0;
  #queue: Waiter[] = [];

  constructor(limits: BulkheadLimits, onLimit: OnLimit) {
    this.#limits = limits;
    this.#onLimit = onLimit;
  }

  get active(): number {
    return this.#active;
  }

  get queued(): number {
    return this.#waiting;
  }

  configure(limits: BulkheadLimits): void {
    this.#limits = limits;
  }

  /**
   * Undefined: there is a place, and it is taken. Otherwise resolves when there is one. Throws when
   * the queue is full.
   */
  enter(call: Call, serverId: string): Promise<void> | undefined {
    if (this.#active < this.#limits.inFlight) {
      this.#active++;
      return undefined;
    }
    this.#onLimit("inFlightPerServer");
    if (this.#waiting >= this.#limits.queue) {
      this.#onLimit("queuePerServer");
      const { inFlight, queue } = this.#limits;
      throw limitExceeded({
        limit: "queuePerServer",
        value: queue,
        what: `server "${serverId}" has ${inFlight} calls under way (limits.inFlightPerServer) and no room for more to wait`,
        advice: "try again later",
        data: { serverId },
      });
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, gone: false };
      this.#queue.push(waiter);
      this.#waiting++;
      call.onCancel(() => {
        if (waiter.gone) return;
        waiter.gone = true;
        this.#waiting--;
        reject(new GoblinError("CANCELLED", "Cancelled before it was sent"));
      });
    });
  }

  leave(): void {
    for (;;) {
      const next = this.#queue.shift();
      if (!next) {
        this.#active--;
        return;
      }
      if (next.gone) continue;
      next.gone = true;
      this.#waiting--;
      next.resolve();
      return;
    }
  }
}
