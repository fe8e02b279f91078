/**
 * The servers of the current config, by id.
 *
 * Servers start in parallel; none waits for another. A new config touches only the servers that it
 * changes. If a server needs a new connection, its replacement starts beside it and takes over once
 * it has synced or failed. The old server finishes its calls. `close` stops everything that was
 * started here.
 */

import { EventEmitter } from "node:events";
import type { Catalog } from "../catalog/catalog.ts";
import { STARTING } from "../catalog/standing.ts";
import type { ConfigDiff } from "../config/diff.ts";
import type { LiveConfig } from "../config/live-config.ts";
import type { ServerConfig } from "../config/schema/server.ts";
import type { Peer, PeerInfo } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { Logger } from "../telemetry/logger.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import type { Backend, BackendStatus } from "./backend.ts";
import type { ServerEvents, Subscribers } from "./events.ts";
import { Server } from "./server.ts";
import { warnOfTemplates } from "./template-problems.ts";

export interface ServersOptions {
  readonly config: LiveConfig;
  readonly catalog: Catalog;
  readonly log: Logger;
  readonly onLimit: OnLimit;
  /** The gateway's `clientInfo` towards servers. */
  readonly clientInfo: Readonly<Record<string, unknown>>;
}

export interface ServerInfo {
  readonly id: string;
  /** Undefined while the server is not connected. */
  readonly info: PeerInfo | undefined;
}

const nobody: Subscribers = { restored: async () => {}, wantsConnection: () => false };

export class Servers extends EventEmitter<ServerEvents> {
  /** Set by `Subscriptions`, which is built after the servers. */
  subscribers: Subscribers = nobody;
  readonly #options: ServersOptions;
  /** The most verbose log level that any session asked for. */
  #logLevel: string | undefined;
  #entries = new Map<string, Server>();
  /** Servers that are about to replace the one with the same id. */
  readonly #incoming = new Map<string, Server>();
  /** Replaced or removed servers that finish their last calls. */
  readonly #retiring = new Set<Server>();
  #started: Promise<void> | undefined;
  #settled = false;
  #closed = false;

  constructor(options: ServersOptions) {
    super();
    this.#options = options;
    warnOfTemplates(options.catalog, options.log);
    for (const config of options.config.current.servers) this.#add(config);
  }

  /** Resolves when every enabled server has connected or failed once. */
  start(): Promise<void> {
    this.#started ??= Promise.all([...this.#entries.values()].map((server) => server.start())).then(() => {
      this.#settled = true;
    });
    return this.#started;
  }

  get settled(): boolean {
    return this.#settled;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  config(serverId: string): ServerConfig | undefined {
    return this.#entries.get(serverId)?.config;
  }

  status(serverId: string): BackendStatus | undefined {
    return this.#entries.get(serverId)?.backend.status;
  }

  /** Returns whether the server is connected, synced and resubscribed. It may still be degraded. */
  isUsable(serverId: string): boolean {
    const state = this.status(serverId)?.state;
    return state === "ready" || state === "degraded";
  }

  /** Returns a capability that the connected server declared. */
  capability(serverId: string, name: string): unknown {
    return this.#entries.get(serverId)?.backend.peer?.info.capabilities[name];
  }

  backend(serverId: string): Backend | undefined {
    return this.#entries.get(serverId)?.backend;
  }

  supportsSubscribe(serverId: string): boolean {
    return Boolean((this.capability(serverId, "resources") as { subscribe?: boolean } | undefined)?.subscribe);
  }

  /** Returns whether all clients share one connection to the server. */
  isShared(serverId: string): boolean {
    return this.config(serverId)?.share !== "session";
  }

  /** Returns whether a client has its own connection, or one that is being restored. */
  hasOwned(serverId: string, clientKey: string): boolean {
    return this.backend(serverId)?.hasOwned(clientKey) ?? false;
  }

  forward(serverId: string, method: string, params: string, flight: Flight): Promise<Answer> {
    const server = this.#entries.get(serverId);
    return server ? server.backend.forward(method, params, flight) : Promise.resolve(gone(serverId));
  }

  /** Sends the gateway's own request, on the shared connection or on the one of `owner`. */
  async own(serverId: string, method: string, params: string, owner?: Client): Promise<Answer> {
    let peer: Peer | undefined;
    try {
      const backend = this.#entries.get(serverId)?.backend;
      peer = owner ? await backend?.peerOf(owner) : backend?.peer;
    } catch (error) {
      return failure(error);
    }
    if (!peer) return gone(serverId);
    const late = new GoblinError("TIMEOUT", `Server "${serverId}" did not answer ${method} in time`, {
      data: { serverId },
    });
    return withTimeout(peer.request(method, params), this.#options.config.current.timeouts.connectMs, failure(late));
  }

  /** Closes the connections of a client that is gone. */
  release(clientKey: string): void {
    for (const { backend } of this.#entries.values()) backend.release(clientKey);
    for (const { backend } of this.#retiring) backend.release(clientKey);
  }

  notifyOwned(clientKey: string, method: string): void {
    for (const { backend } of this.#entries.values()) backend.notifyOwned(clientKey, method);
  }

  infos(): ServerInfo[] {
    return [...this.#entries.values()].map(({ id, backend }) => ({ id, info: backend.peer?.info }));
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** Sets the log level of every server, on the shared connections. */
  setLogLevel(level: string | undefined): void {
    this.#logLevel = level;
    for (const server of this.#entries.values()) server.setLevel(level);
  }

  /** Sets the log level on the client's own connections. */
  setOwnedLogLevel(client: Client): void {
    for (const { backend } of this.#entries.values()) backend.setOwnedLogLevel(client);
  }

  /**
   * Applies a config that is already the live one. The lists change at once, except for servers
   * that need a new connection. Resolves when these have taken over and new servers have connected
   * or failed.
   */
  apply(diff: ConfigDiff): Promise<void> {
    for (const id of diff.removed) this.#remove(id);
    for (const config of diff.adjusted) {
      this.#entries.get(config.id)?.adjust(config);
      this.#incoming.get(config.id)?.adjust(config);
    }
    const starts = [
      ...diff.added.map((config) => this.#startAdded(this.#add(config))),
      ...diff.changed.map((config) => this.#replace(config)),
    ];
    this.#arrange(diff.order);
    for (const server of this.#all()) server.configure(this.#options.config.current);
    return Promise.all(starts).then(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all()].map((server) => server.stop("shutting down")));
  }

  *#all(): Generator<Server> {
    yield* this.#entries.values();
    yield* this.#incoming.values();
    yield* this.#retiring;
  }

  #add(config: ServerConfig): Server {
    const server = new Server(config, this, this.#options);
    this.#entries.set(config.id, server);
    server.attach();
    return server;
  }

  async #startAdded(server: Server): Promise<void> {
    if (this.#started && !this.#closed) await server.start();
  }

  async #replace(config: ServerConfig): Promise<void> {
    const { id } = config;
    void this.#incoming.get(id)?.stop("replaced");
    const next = new Server(config, this, this.#options);
    this.#incoming.set(id, next);
    // From now on, requests for its names wait until it has started.
    if (config.enabled && !this.#entries.get(id)?.config.enabled) this.#options.catalog.stand(id, STARTING);
    await this.#startAdded(next);
    // Another config may have replaced this server meanwhile, or the gateway may be closing.
    if (this.#incoming.get(id) !== next || this.#closed) return next.stop("replaced");
    this.#incoming.delete(id);
    const old = this.#entries.get(id);
    this.#entries.set(id, next);
    old?.detach();
    next.attach();
    this.emit("status", id, next.backend.status);
    if (!config.enabled) this.emit("removed", id);
    if (old) this.#retire(old);
    await this.subscribers.restored(id);
  }

  #remove(id: string): void {
    const { catalog } = this.#options;
    void this.#incoming.get(id)?.stop("removed");
    this.#incoming.delete(id);
    const server = this.#entries.get(id);
    this.#entries.delete(id);
    catalog.remove(id);
    this.emit("removed", id);
    if (server) this.#retire(server);
  }

  #retire(server: Server): void {
    this.#retiring.add(server);
    void server.retire(this.#options.config.current.timeouts.drainMs).finally(() => this.#retiring.delete(server));
  }

  /**
   * File order decides which server keeps a contested name, so the order must be the same as after
   * a restart.
   */
  #arrange(order: readonly string[]): void {
    const entries = new Map<string, Server>();
    for (const id of order) {
      const server = this.#entries.get(id);
      if (server) entries.set(id, server);
    }
    this.#entries = entries;
    this.#options.catalog.arrange(order);
  }
}

function gone(serverId: string): Answer {
  const message = `Server "${serverId}" is not connected`;
  return failure(new GoblinError("BACKEND_UNAVAILABLE", message, { data: { serverId } }));
}
