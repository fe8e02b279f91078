/** The requests in flight, so that a gateway that shuts down can let them finish. */

import { Bag } from "../../../lib/structures/bag.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

/** How long requests that were cancelled may take to be answered. */
const CANCELLED_MS = 250;

export class InFlight implements Stage {
  readonly #flights = new Bag<Flight>();
  #wake: (() => void) | undefined;

  enter(flight: Flight): undefined {
    this.add(flight);
  }

  leave(flight: Flight, _route: Route, answer: Answer): Answer {
    this.remove(flight);
    return answer;
  }

  add(flight: Flight): void {
    this.#flights.add(flight);
  }

  remove(flight: Flight): void {
    this.#flights.delete(flight);
    if (this.#flights.size === 0) this.#wake?.();
  }

  /** Waits at most this long for the requests in flight, then cancels the rest. */
  async drain(ms: number): Promise<void> {
    await this.#emptied(ms);
    for (const { call } of this.#flights.items()) call.cancel("shutdown");
    await this.#emptied(CANCELLED_MS);
  }

  /** Resolves when no request is in flight, or after this time. */
  async #emptied(ms: number): Promise<void> {
    if (this.#flights.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
