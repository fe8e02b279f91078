/**
 * Messages that wait for the end of their call, because the call may become one line. They wait for
 * a short time only: what a gateway had under way when it crashed is in the recording, too.
 */

import { Bag } from "../../lib/structures/bag.ts";
import type { Call, Witness } from "../../mcp/protocol/call.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import type { Shape } from "../../mcp/protocol/frame.ts";
import type { Answer } from "../../mcp/protocol/json-rpc.ts";

/** Calls that take longer have a line for each message. */
const MAX_MS = 250;

/** A message from a server. */
export interface Arrival {
  readonly bytes: Buffer;
  /** The connection that it came over: members of a line. */
  readonly over: string;
  readonly call: Call | undefined;
  /** In microseconds. */
  readonly at: number;
}

/** What the recorder hears of a call. */
export interface TrailEvents {
  emitted(flight: Flight, notification: string): void;
  answered(trail: Trail, message: Buffer, answer: Answer): boolean;
}

/** What the recorder knows of a call that has not ended. */
export class Trail implements Witness {
  readonly flight: Flight;
  readonly #events: TrailEvents;
  /** The message to its server; empty: there is none yet. */
  sent = "";
  /** The connection that it went over: members of a line. */
  over = "";
  /** The server's message that was the answer, and the answer in it. */
  arrival: Arrival | undefined;
  answer: Answer | undefined;
  /** How the answer is written. Undefined: not in one of the two usual ways. */
  shape: Shape | undefined;
  /** How it ended, and after how many milliseconds. */
  outcome = "";
  ms = 0;
  /** Whether its messages wait. */
  isHeld = false;
  /** Whether its request has a line of its own. */
  isAsked = false;
  /** The index among those that wait. */
  place = -1;

  constructor(flight: Flight, events: TrailEvents) {
    this.flight = flight;
    this.#events = events;
  }

  emitted(notification: string): void {
    this.#events.emitted(this.flight, notification);
  }

  answered(message: Buffer, answer: Answer, shape: Shape | undefined): void {
    if (this.#events.answered(this, message, answer)) this.shape = shape;
  }
}

/** The calls whose messages wait. */
export class HeldCalls {
  readonly #trails = new Bag<Trail>();

  get size(): number {
    return this.#trails.size;
  }

  hold(trail: Trail): void {
    trail.isHeld = true;
    this.#trails.add(trail);
  }

  release(trail: Trail): void {
    trail.isHeld = false;
    this.#trails.delete(trail);
  }

  /** Returns those that have waited for long enough, or all. */
  due(isAll: boolean): Trail[] {
    const before = isAll ? Number.POSITIVE_INFINITY : performance.now() - MAX_MS;
    return this.#trails.items().filter(({ flight }) => flight.startedAt < before);
  }
}
