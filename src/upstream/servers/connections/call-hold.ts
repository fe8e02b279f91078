/**
 * Holds calls back while a server waits for the answer to a question that it asked outside of a
 * call, so that they do not overtake it. Not for long: the server need not wait for it at all.
 */

import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Peer } from "../../../mcp/peers/peer.ts";
import { actedOn, START_MS } from "./own-start.ts";

export class CallHold {
  /** Calls wait for this; undefined: nothing is to be waited for. It never rejects. */
  over: Promise<unknown> | undefined;

  /** `peer`: returns the connection of the question when it has been answered. */
  until(answer: Promise<unknown>, peer: () => Peer | undefined): void {
    const over = this.#settled(answer, peer).finally(() => {
      if (this.over === over) this.over = undefined;
    });
    this.over = over;
  }

  async #settled(answer: Promise<unknown>, peer: () => Peer | undefined): Promise<void> {
    const answered = answer.then(
      () => {},
      () => {},
    );
    await withTimeout(answered, START_MS, undefined);
    await actedOn(peer());
  }
}
