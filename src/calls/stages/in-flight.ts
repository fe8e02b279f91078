/** The requests in flight, so that a gateway that shuts down can let them finish. */
import type { Flight } from "../../protocol/flight.ts";
import type { Answer } from "../../protocol/json-rpc.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Stage } from "../compose.ts";

export class InFlight implements Stage {
  /**
   * Each flight knows its slot, so removal is constant time. An array is faster than a Set here,
   * see `structures/small-map.ts`.
   */
  readonly #flights: Flight[] = [];
  #wake: (() => void) | undefined;

  enter(flight: Flight): undefined {
    this.add(flight);
  }

  leave(flight: Flight, _route: Route, answer: Answer): Answer {
    this.remove(flight);
    return answer;
  }

  add(flight: Flight): void {
    flight.slot = this.#flights.push(flight) - 1;
  }

  remove(flight: Flight): void {
    const last = this.#flights.pop()!;
    if (last !== flight) {
      this.#flights[flight.slot] = last;
      last.slot = flight.slot;
    }
    if (this.#flights.length === 0) this.#wake?.();
  }

  /** Waits at most this long for the requests in flight, then cancels the rest. */
  async drain(ms: number): Promise<void> {
    if (this.#flights.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    for (const { call } of [...this.#flights]) call.cancel("shutdown");
  }
}
