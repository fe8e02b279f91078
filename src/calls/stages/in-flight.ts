/**
 * The requests that are being answered right now, so that a gateway that shuts down can let them
 * finish.
 */
import type { Call } from "../../protocol/call.ts";
import type { Answer } from "../../protocol/json-rpc.ts";
import type { Stage } from "../compose.ts";

export class InFlight {
  /**
   * Each call knows its place, so that it can be taken out at once. An array rather than a Set, see
   * `structures/small-map.ts`.
   */
  readonly #calls: Call[] = [];
  #wake: (() => void) | undefined;

  get size(): number {
    return this.#calls.length;
  }

  /** For what is routed to a server. */
  readonly stage: Stage = {
    enter: (call) => {
      this.#add(call);
      return undefined;
    },
    leave: (call, _route, answer) => {
      this.#remove(call);
      return answer;
    },
  };

  /** Around what the gateway answers itself, perhaps with a server's help. */
  track(handle: (call: Call) => Promise<Answer>): (call: Call) => Promise<Answer> {
    return async (call) => {
      this.#add(call);
      try {
        return await handle(call);
      } finally {
        this.#remove(call);
      }
    };
  }

  /** Waits until nothing is under way, but no longer than this; what is left then is given up. */
  async drain(ms: number): Promise<void> {
    if (this.#calls.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    for (const call of [...this.#calls]) call.cancel("shutdown");
  }

  #add(call: Call): void {
    call.place = this.#calls.push(call) - 1;
  }

  #remove(call: Call): void {
    const last = this.#calls.pop()!;
    if (last !== call) {
      this.#calls[call.place] = last;
      last.place = call.place;
    }
    if (this.#calls.length === 0) this.#wake?.();
  }
}
