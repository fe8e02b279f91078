/**
 * How many requests one server may have under way, and how many may wait for a place. One slow
 * server fills its own bulkhead and nobody else's. A request that is cancelled while it waits gives
 * its place up, and nothing of it is kept.
 */
import type { Call } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

export interface BulkheadLimits {
  readonly inFlight: number;
  readonly queue: number;
}

/** Lets a request that waited go on. */
type Waiter = () => void;

export class Bulkhead {
  readonly #onLimit: OnLimit;
  #limits: BulkheadLimits;
  #active = 0;
  /** In the order in which they came. */
  readonly #queue = new Set<Waiter>();

  constructor(limits: BulkheadLimits, onLimit: OnLimit) {
    this.#limits = limits;
    this.#onLimit = onLimit;
  }

  get active(): number {
    return this.#active;
  }

  get queued(): number {
    return this.#queue.size;
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
    if (this.#queue.size >= this.#limits.queue) {
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
      this.#queue.add(resolve);
      call.onCancel(() => {
        if (this.#queue.delete(resolve)) reject(new GoblinError("CANCELLED", "Cancelled before it was sent"));
      });
    });
  }

  leave(): void {
    for (const next of this.#queue) {
      this.#queue.delete(next);
      return next();
    }
    this.#active--;
  }
}
