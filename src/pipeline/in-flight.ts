/**
 * The requests that are being answered right now, so that a gateway that shuts down can let them finish.
 */
import type { Call } from "../model/call.ts";
import type { Answer } from "../model/json-rpc.ts";

export class InFlight {
  readonly #calls = new Set<Call>();
  #wake: (() => void) | undefined;

  get size(): number {
    return this.#calls.size;
  }

  track(handle: (call: Call) => Promise<Answer>): (call: Call) => Promise<Answer> {
    return async (call) => {
      this.#calls.add(call);
      try {
        return await handle(call);
      } finally {
        this.#calls.delete(call);
        if (this.#calls.size === 0) this.#wake?.();
      }
    };
  }

  /** Waits until nothing is under way, but no longer than this; what is left then is given up. */
  async drain(ms: number): Promise<void> {
    if (this.#calls.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    for (const call of this.#calls) call.cancel("shutdown");
  }
}
