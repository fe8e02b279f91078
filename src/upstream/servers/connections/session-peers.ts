/**
 * Connections to a server that is not shared, one per client scope. Each is made with the client's
 * own capabilities at its first request and closed when the client is gone. A broken connection is
 * dropped, and the next request makes a new one. If the client waits for notifications, the
 * connection is restored with backoff, without waiting for a request.
 */

import { backoffMs } from "../../../lib/timing/backoff.ts";
import { setLogLevel } from "../../../mcp/peers/log-level.ts";
import type { Peer } from "../../../mcp/peers/peer.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import type { ConnectOwn, OwnConnection } from "./own-connections.ts";

export interface OwnedOptions {
  readonly connect: ConnectOwn;
  readonly wants: (scope: string) => boolean;
  /** A broken connection was restored. */
  readonly restored: (scope: string) => void;
}

interface Owned {
  readonly connection: Promise<OwnConnection>;
  readonly peer: Promise<Peer>;
  readonly abort: AbortController;
}

export class SessionPeers {
  readonly #options: OwnedOptions;
  readonly #peers = new Map<string, Owned>();
  /** Scopes with a broken connection, and the timer of the next attempt. */
  readonly #broken = new Map<string, NodeJS.Timeout | undefined>();

  constructor(options: OwnedOptions) {
    this.#options = options;
  }

  of(owner: Client): Promise<Peer> {
    const { scope } = owner;
    const known = this.#peers.get(scope);
    if (known) return known.peer;
    const abort = new AbortController();
    const connection = this.#options.connect(owner, () => this.#lost(owner, made), abort.signal);
    const peer = connection.then((made) => made.peer);
    const made: Owned = { connection, peer, abort };
    this.#peers.set(scope, made);
    peer.then(
      (connected) => {
        setLogLevel(connected, owner.logLevel);
        this.#onRestored(scope);
      },
      () => {
        if (this.#peers.get(scope) === made) this.#peers.delete(scope);
      },
    );
    return peer;
  }

  has(scope: string): boolean {
    return this.#peers.has(scope) || this.#broken.has(scope);
  }

  notify(scope: string, method: string, params?: string): void {
    this.#peers
      .get(scope)
      ?.peer.then((peer) => peer.notify(method, params))
      .catch(() => {});
  }

  setLogLevel({ scope, logLevel }: Client): void {
    this.#peers
      .get(scope)
      ?.peer.then((peer) => setLogLevel(peer, logLevel))
      .catch(() => {});
  }

  release(scope: string): void {
    this.#forgetBreak(scope);
    void this.#close(scope);
  }

  async closeAll(): Promise<void> {
    for (const scope of [...this.#broken.keys()]) this.#forgetBreak(scope);
    await Promise.all([...this.#peers.keys()].map((scope) => this.#close(scope)));
  }

  async #close(scope: string): Promise<void> {
    const owned = this.#peers.get(scope);
    this.#peers.delete(scope);
    owned?.abort.abort();
    await owned?.connection.then((connection) => connection.close()).catch(() => {});
  }

  #lost(owner: Client, made: Owned): void {
    const { scope } = owner;
    if (this.#peers.get(scope) !== made) return;
    this.#peers.delete(scope);
    // If no subscriber waits for notifications, there is nothing to restore.
    if (!this.#options.wants(scope)) return;
    this.#broken.set(scope, undefined);
    this.#retry(owner, 0);
  }

  #retry(owner: Client, attempt: number): void {
    const { scope } = owner;
    if (!this.#broken.has(scope)) return;
    if (!this.#options.wants(scope)) return this.#forgetBreak(scope);
    const timer = setTimeout(() => {
      if (this.#broken.has(scope)) this.of(owner).catch(() => this.#retry(owner, attempt + 1));
    }, backoffMs(attempt)).unref();
    this.#broken.set(scope, timer);
  }

  #onRestored(scope: string): void {
    if (!this.#broken.has(scope)) return;
    this.#forgetBreak(scope);
    this.#options.restored(scope);
  }

  #forgetBreak(scope: string): void {
    clearTimeout(this.#broken.get(scope));
    this.#broken.delete(scope);
  }
}
