/**
 * The connections of a server that is not shared, for clients without a session: made with the
 * capabilities that a request names, and lent to one request at a time, since on one connection
 * nothing tells the questions of two apart.
 *
 * A connection that comes back is kept for the next request of equal scope, for a while and up to a
 * number; so what clients claim to be able to do cannot keep more and more of them open.
 */

import type { Peer } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import type { Answer } from "../protocol/json-rpc.ts";

/** The signal gives the attempt up; `closed` tells that the connection broke. */
export type ConnectFor = (owner: Client, closed: () => void, signal: AbortSignal) => Promise<Peer>;

interface Lent {
  readonly scope: string;
  readonly peer: Promise<Peer>;
  readonly abort: AbortController;
  broken: boolean;
  timer?: NodeJS.Timeout;
}

const IDLE_MS = 60_000;
const MAX_IDLE = 8;

export class ExclusivePeerPool {
  readonly #connect: ConnectFor;
  readonly #busy = new Set<Lent>();
  /** The one that has been idle for the longest is first. */
  readonly #idle = new Set<Lent>();

  constructor(connect: ConnectFor) {
    this.#connect = connect;
  }

  /** Sends a request on a connection that no other request uses meanwhile. */
  async use(client: Client, send: (peer: Peer) => Promise<Answer>): Promise<Answer> {
    const lent = this.#take(client);
    try {
      return await send(await lent.peer);
    } finally {
      this.#giveBack(lent);
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#busy, ...this.#idle].map((lent) => this.#close(lent)));
  }

  #take(client: Client): Lent {
    for (const lent of this.#idle) {
      if (lent.scope !== client.scope) continue;
      clearTimeout(lent.timer);
      this.#idle.delete(lent);
      this.#busy.add(lent);
      return lent;
    }
    const abort = new AbortController();
    const closed = (): void => {
      made.broken = true;
      this.#idle.delete(made);
    };
    const peer = this.#connect(client, closed, abort.signal);
    const made: Lent = { scope: client.scope, peer, abort, broken: false };
    peer.catch(closed);
    this.#busy.add(made);
    return made;
  }

  #giveBack(lent: Lent): void {
    this.#busy.delete(lent);
    if (lent.broken) return;
    this.#idle.add(lent);
    lent.timer = setTimeout(() => void this.#close(lent), IDLE_MS).unref();
    const [oldest] = this.#idle;
    if (this.#idle.size > MAX_IDLE && oldest) void this.#close(oldest);
  }

  async #close(lent: Lent): Promise<void> {
    clearTimeout(lent.timer);
    lent.broken = true;
    this.#idle.delete(lent);
    lent.abort.abort();
    await lent.peer.then((peer) => peer.close()).catch(() => {});
  }
}
