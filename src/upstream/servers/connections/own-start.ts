/**
 * The start of a client's own connection: the server asks what it always asks first, and lists what
 * it has for this client. The client's first call comes after that, so that it does not overtake
 * the answers. The wait is bounded: a server need not ask, and a client need not answer.
 */

import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Peer, PeerEvents } from "../../../mcp/peers/peer.ts";

/** How long the first call waits for the server's questions and their answers. */
export const START_MS = 5000;
const SETTLE_MS = 50;

export class OwnStart {
  readonly #expected: Set<string>;
  readonly #asks: boolean;
  readonly #answered: Promise<void>;
  #settle = (): void => {};

  constructor(expected: readonly string[]) {
    this.#expected = new Set(expected);
    this.#asks = expected.length > 0;
    this.#answered = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Returns `ask`, followed by this. */
  follow(ask: PeerEvents["ask"]): PeerEvents["ask"] {
    return async (method, params, asked) => {
      try {
        return await ask(method, params, asked);
      } finally {
        this.#expected.delete(method);
        if (this.#expected.size === 0) this.#settle();
      }
    };
  }

  /** Resolves when the connection can be used. `signal` aborts the wait. */
  async over(peer: Peer, list: (peer: Peer) => Promise<void>, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const steps = async (): Promise<void> => {
      if (this.#asks) {
        await withTimeout(this.#answered, START_MS, undefined);
        await actedOn(peer);
      }
      if (!signal.aborted) await withTimeout(list(peer), START_MS, undefined);
    };
    await Promise.race([steps(), aborted]);
  }
}

/** Resolves when the server has had the time to act on an answer of this turn. */
export async function actedOn(peer: Peer | undefined): Promise<void> {
  // The answer is sent in this turn. A round trip later the server has read it.
  await new Promise((resolve) => setImmediate(resolve));
  const probe = peer?.probe?.();
  if (!probe) return;
  await withTimeout(probe, START_MS, false);
  // It may look at what it was told, such as folders, and read on meanwhile.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
