/**
 * How many requests one server may have under way, and how many may wait for a place. One slow server fills its own
 * bulkhead and nobody else's. A request that is cancelled while it waits gives its place up.
 */
import type { Call } from "../model/call.ts";
import { GoblinError } from "../model/errors.ts";

export interface BulkheadLimits {
  readonly inFlight: number;
  readonly queue: number;
}

interface Waiter {
  readonly resolve: () => void;
  gone: boolean;
}

export class Bulkhead {
  #limits: BulkheadLimits;
  #active = 0;
  #waiting = 0;
  #queue: Waiter[] = [];

  constructor(limits: BulkheadLimits) {
    this.#limits = limits;
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

  /** Undefined: there is a place, and it is taken. Otherwise resolves when there is one. Throws when the queue is full. */
  enter(call: Call, serverId: string): Promise<void> | undefined {
    if (this.#active < this.#limits.inFlight) {
      this.#active++;
      return undefined;
    }
    if (this.#waiting >= this.#limits.queue) {
      const { inFlight, queue } = this.#limits;
      const message = `LimitExceeded: server "${serverId}" has ${inFlight} calls under way (limits.inFlightPerServer) and ${queue} waiting (limits.queuePerServer)`;
      throw new GoblinError("LimitExceeded", message, { data: { serverId, limit: inFlight + queue } });
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
