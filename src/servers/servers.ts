/**
 * The set of servers, by id, as the config says now.
 *
 * Servers start in parallel and none waits for another. A new config touches only what it changes:
 * a server that needs another connection is started beside the old one, takes its place when it has
 * been synced (or has failed), and the old one finishes its calls. Whatever was started here is
 * stopped by `close`.
 */

import type { ConfigDiff } from "../config/diff.ts";
import type { ServerConfig } from "../config/schema/server.ts";
import type { Origin, Peer } from "../peers/peer.ts";
import type { Call, Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import type { DescribeSource } from "../routing/describe.ts";
import { extensionOwners } from "../routing/extension.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import type { Backend, BackendStatus } from "./backend.ts";
import { Server, type ServerDeps } from "./server.ts";
import { warnOfTemplates } from "./template-problems.ts";

export interface ServerHooks {
  /** A log message of a server; `params` is raw JSON. */
  log(level: string, params: string, to: Origin | Client): void;
  updated(serverId: string, uri: string, params: string, ownerKey: string | undefined): void;
  /**
   * The server has a new connection, which knows nothing of what was subscribed to on the one
   * before.
   */
  task(serverId: string, taskId: string, params: string): void;
  restored(serverId: string): Promise<void>;
  /** The same for the connection that one client has of its own. */
  ownedRestored(serverId: string, ownerKey: string): void;
  /** Whether this client's own connection must be made again by itself when it breaks. */
  wantsOwned(serverId: string, ownerKey: string): boolean;
  removed(serverId: string): void;
  /** The log level that the clients want of the servers, if any said so. */
  wantedLevel(): string | undefined;
  status(serverId: string, status: BackendStatus): void;
  /** The server's lists have been fetched, which took so long. */
  synced(serverId: string, ms: number): void;
}

export type ServersOptions = ServerDeps;

export class Servers {
  readonly #options: ServersOptions;
  #entries = new Map<string, Server>();
  /** Servers that are about to take the place of the one with their id. */
  readonly #incoming = new Map<string, Server>();
  /** Servers that finish their last calls. */
  readonly #retiring = new Set<Server>();
  #started: Promise<void> | undefined;
  #settled = false;
  #closed = false;

  constructor(options: ServersOptions) {
    this.#options = options;
    warnOfTemplates(options.catalog, options.log);
    for (const config of options.config().servers) this.#add(config);
  }

  /** Ends when every enabled server has connected or failed once. */
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

  /** Connected, synced and told of its subscriptions, if not without a fault. */
  isUsable(serverId: string): boolean {
    const state = this.status(serverId)?.state;
    return state === "ready" || state === "degraded";
  }

  /** A capability that the connected server declared. */
  capability(serverId: string, name: string): unknown {
    return this.#entries.get(serverId)?.backend.peer?.info.capabilities[name];
  }

  backend(serverId: string): Backend | undefined {
    return this.#entries.get(serverId)?.backend;
  }

  forward(serverId: string, method: string, params: string, call: Call): Promise<Answer> {
    const server = this.#entries.get(serverId);
    return server ? server.backend.forward(method, params, call) : Promise.resolve(gone(serverId));
  }

  /**
   * A request of the gateway's own, on the shared connection or on the one that belongs to `owner`.
   */
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
    return withTimeout(peer.request(method, params), this.#options.config().timeouts.connectMs, failure(late));
  }

  /** A client is gone. */
  release(clientKey: string): void {
    for (const { backend } of this.#entries.values()) backend.release(clientKey);
    for (const { backend } of this.#retiring) backend.release(clientKey);
  }

  notifyOwned(clientKey: string, method: string): void {
    for (const { backend } of this.#entries.values()) backend.notifyOwned(clientKey, method);
  }

  infos(): DescribeSource[] {
    return [...this.#entries.values()].map(({ id, backend }) => ({ id, info: backend.peer?.info }));
  }

  /** The servers that declared the extension which a method belongs to. */
  extensionOwners(method: string): string[] {
    const connected = this.infos().flatMap(({ id, info }) => (info ? [{ id, capabilities: info.capabilities }] : []));
    return extensionOwners(method, connected);
  }

  logLevelChanged(client: Client): void {
    const shared = this.#options.hooks.wantedLevel();
    for (const server of this.#entries.values()) {
      server.setLevel(shared);
      server.backend.setOwnedLogLevel(client);
    }
  }

  /**
   * Follows a new config, which `options.config()` returns by now. What is listed changes at once,
   * except for servers that need a new connection; the promise ends when these have taken their
   * places and new ones have connected or failed.
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
    for (const server of this.#all()) server.configure(this.#options.config());
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
    const server = new Server(config, this.#options);
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
    const next = new Server(config, this.#options);
    this.#incoming.set(id, next);
    await this.#startAdded(next);
    // Another config, or the end, may have come meanwhile.
    if (this.#incoming.get(id) !== next || this.#closed) return next.stop("replaced");
    this.#incoming.delete(id);
    const old = this.#entries.get(id);
    this.#entries.set(id, next);
    old?.detach();
    next.attach();
    this.#options.hooks.status(id, next.backend.status);
    if (!config.enabled) this.#options.hooks.removed(id);
    if (old) this.#retire(old);
    await this.#options.hooks.restored(id);
  }

  #remove(id: string): void {
    const { catalog, hooks } = this.#options;
    void this.#incoming.get(id)?.stop("removed");
    this.#incoming.delete(id);
    const server = this.#entries.get(id);
    this.#entries.delete(id);
    catalog.remove(id);
    hooks.removed(id);
    if (server) this.#retire(server);
  }

  #retire(server: Server): void {
    this.#retiring.add(server);
    void server.retire(this.#options.config().timeouts.drainMs).finally(() => this.#retiring.delete(server));
  }

  /**
   * File order decides who keeps a name that several want, so it must be what a restart would give.
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
