/**
 * The connections of a server that is not shared: one for each client, made with the client's own capabilities at its first
 * request, closed when the client is gone. A connection that breaks is forgotten; the next request makes a new one.
 */
import type { Client } from "../model/call.ts";
import type { GoblinError } from "../model/errors.ts";
import type { Peer } from "./backend.ts";

export class OwnedPeers {
  readonly #connect: (owner: Client, closed: (error: GoblinError) => void) => Promise<Peer>;
  readonly #peers = new Map<string, Promise<Peer>>();

  constructor(connect: (owner: Client, closed: (error: GoblinError) => void) => Promise<Peer>) {
    this.#connect = connect;
  }

  of(owner: Client): Promise<Peer> {
    const known = this.#peers.get(owner.key);
    if (known) return known;
    const made: Promise<Peer> = this.#connect(owner, () => this.#forget(owner.key, made));
    this.#peers.set(owner.key, made);
    made.catch(() => this.#forget(owner.key, made));
    return made;
  }

  notify(clientKey: string, method: string): void {
    this.#peers
      .get(clientKey)
      ?.then((peer) => peer.notify(method))
      .catch(() => {});
  }

  release(clientKey: string): void {
    const peer = this.#peers.get(clientKey);
    this.#peers.delete(clientKey);
    peer?.then((open) => open.close()).catch(() => {});
  }

  async closeAll(): Promise<void> {
    const peers = [...this.#peers.values()];
    this.#peers.clear();
    await Promise.allSettled(peers.map(async (peer) => (await peer).close()));
  }

  #forget(key: string, peer: Promise<Peer>): void {
    if (this.#peers.get(key) === peer) this.#peers.delete(key);
  }
}
