/**
 * The servers as the rest of the gateway sees them: what each one is and can do, and the ways to
 * reach it. It emits what they report (`ServerEvents`).
 */

import { EventEmitter } from "node:events";
import { Secrets } from "../../auth/secrets/secrets.ts";
import { isInvalid, type ServerConfig } from "../../config/schema/server.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import type { Peer, PeerInfo } from "../../mcp/peers/peer.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import { logBookOf } from "../../observe/telemetry/logger.ts";
import { principalKey, principalOf } from "../catalog/views/own-lists.ts";
import type { Backend, BackendStatus } from "./backend.ts";
import { wantingLogin } from "./callers/callers.ts";
import { gone, loginRequired } from "./connections/refusals.ts";
import { StartQueue } from "./connections/start-queue.ts";
import type { ServerEvents, SoleClient, Subscribers } from "./events.ts";
import { Arrivals } from "./lists/arrivals.ts";
import { type OwnRequest, type PeerOwner, SESSIONS, type Subscribing } from "./owner.ts";
import { Roster, type RosterOptions, type ServersOptions } from "./roster.ts";
import type { Server } from "./server.ts";
import { warnOfTemplates } from "./template-problems.ts";

export interface ServerInfo {
  readonly id: string;
  /** The last one while the server reconnects. Undefined if it is unknown. */
  readonly info: PeerInfo | undefined;
}

export class Servers extends EventEmitter<ServerEvents> {
  readonly startQueue = new StartQueue();
  /** The servers themselves, by id, and their life cycle. */
  readonly roster: Roster;
  readonly #options: RosterOptions;
  readonly #subscribers: ServersOptions["subscribers"];
  readonly #sole: ServersOptions["sole"];
  /** The most verbose log level that any session asked for. */
  #logLevel: string | undefined;
  /** What clients that come wait for. */
  readonly arrivals: Arrivals;

  constructor({ env, subscribers, sole, ...options }: ServersOptions) {
    super();
    this.#subscribers = subscribers;
    this.#sole = sole;
    const { config, log, logins } = options;
    const hide = (values: readonly string[]): void => logBookOf(log).masker.hide(values, "secrets");
    this.#options = { ...options, secrets: new Secrets({ config, env, hide }) };
    logins?.on("callerLogin", (id, principal) => {
      void this.roster.get(id)?.callers?.prepare({ principal });
      this.emit("loggedIn", id, principal);
    });
    warnOfTemplates(options.catalog, log);
    this.roster = new Roster(this, this.#options);
    this.arrivals = new Arrivals(this.roster);
  }

  get subscribers(): Subscribers {
    return this.#subscribers();
  }

  /** The only client that the gateway can have, if it has one channel. */
  get sole(): SoleClient | undefined {
    return this.#sole();
  }

  get settled(): boolean {
    return this.roster.settled;
  }

  /** A starting server asks the only client something. */
  asksSole(serverId: string): void {
    this.roster.firstLists.asks(serverId);
  }

  /** Returns the real reason of an error, if its principal has the login that seems missing. */
  ownProblem(error: unknown, client: Pick<Client, "principal">): GoblinError | undefined {
    const serverId = wantingLogin(error);
    return serverId === undefined ? undefined : this.roster.get(serverId)?.callers?.problem(client);
  }

  /**
   * Resolves when the lists of the server whose login seems missing are there for this client's
   * principal, or cannot be. Undefined: the principal has no login.
   */
  ownStart(error: unknown, client: Pick<Client, "principal">): Promise<void> | undefined {
    const callers = this.roster.get(wantingLogin(error) ?? "")?.callers;
    // The catalog may lag behind lists that were kept.
    return callers?.prepare(client) ?? (callers?.of(client) && this.#options.catalog.caughtUp());
  }

  /** Whether the login that an error calls missing is there: the catalog may lag behind. */
  hasLogin(error: unknown): boolean {
    const state = this.roster.get(wantingLogin(error) ?? "")?.backend.status.state;
    return state !== undefined && state !== "needs-login";
  }

  /** A client read a list: lists whose time is over are fetched again, in the background. */
  listRead(clientKey: string): void {
    for (const server of this.roster.values()) server.listRead(clientKey);
  }

  ids(): string[] {
    return [...this.roster.values()].map(({ id }) => id);
  }

  config(serverId: string): ServerConfig | undefined {
    return this.roster.get(serverId)?.config;
  }

  status(serverId: string): BackendStatus | undefined {
    return this.roster.get(serverId)?.status;
  }

  /** Returns whether the server is connected, synced and resubscribed. It may still be degraded. */
  isUsable(serverId: string, principal?: string): boolean {
    const state = this.#opened(serverId, principal)?.status.state;
    return state === "ready" || state === "degraded";
  }

  supportsSubscribe(serverId: string, principal?: string): boolean {
    const backend = this.#opened(serverId, principal)?.backend;
    return [backend?.peer, backend?.connections.sessionsPeer].some(
      (peer) => recordOf(peer?.info.capabilities["resources"])["subscribe"] === true,
    );
  }

  /**
   * Returns whose connection carries the tasks of a client with a session: its own, or the one that
   * these clients share. Undefined: the connection that all clients share.
   */
  ownerOf(serverId: string, clientKey: string): string | undefined {
    const server = this.roster.get(serverId);
    const connections = server?.backend.connections;
    const hasOwned = server?.callers || server?.config.share === "session" || connections?.hasOwned(clientKey);
    return hasOwned ? clientKey : connections?.sessionsPeer ? SESSIONS : undefined;
  }

  /**
   * Returns whose connection carries a client's subscriptions: its own, its principal's, or the one
   * of all clients with a session. Undefined: the connection that all clients share. Without
   * subscribe support, updates come on a shared connection, since the client may have no other.
   */
  carrierOf(serverId: string, { clientKey, principal, hasSession }: Subscribing): string | undefined {
    const server = this.roster.get(serverId);
    const connections = this.#opened(serverId, principal)?.backend.connections;
    const shared = server?.callers && principal !== undefined ? principalKey(principal) : undefined;
    if (!hasSession || !this.supportsSubscribe(serverId, principal)) return shared;
    if (server?.config.share === "session" || connections?.hasOwned(clientKey)) return clientKey;
    return shared ?? (connections?.sessionsPeer ? SESSIONS : undefined);
  }

  /**
   * Opens the connection of a principal with a login of its own. Returns a promise if that takes
   * time; it resolves when the server has connected or failed.
   */
  open(serverId: string, principal: string | undefined): Promise<unknown> | undefined {
    const server = principal === undefined ? undefined : this.roster.get(serverId)?.callers?.of({ principal });
    return server && !server.backend.peer ? server.backend.connections.shared.available() : undefined;
  }

  /**
   * Prepares the server for a client that is about to use it. Returns a promise if that takes time.
   */
  prepare(serverId: string, client: Client): Promise<unknown> | undefined {
    return this.#backendOf(serverId, client)?.connections.prepare(client);
  }

  /** Returns whether a client has its own connection, or one that is being restored. */
  hasOwned(serverId: string, clientKey: string): boolean {
    const server = this.roster.get(serverId);
    const all = [server, ...(server?.callers?.values() ?? [])];
    return all.some((one) => one?.backend.connections.hasOwned(clientKey));
  }

  forward(serverId: string, method: string, params: string, flight: Flight): Promise<Answer> {
    const server = this.roster.get(serverId);
    if (!server) return Promise.resolve(gone(serverId));
    return server.servingOf(flight.call.client).backend.forward(method, params, flight);
  }

  /** Sends the gateway's own request, on the shared connection or on the one of `owner`. */
  async own(serverId: string, { method, params }: OwnRequest, owner?: PeerOwner): Promise<Answer> {
    let peer: Peer | undefined;
    try {
      peer = await this.#peerOf(serverId, owner);
    } catch (error) {
      return failure(error);
    }
    if (!peer) return this.#unreachable(serverId, owner);
    const late = new GoblinError("TIMEOUT", `Server "${serverId}" did not answer ${method} in time`, {
      data: { serverId },
    });
    return withTimeout(peer.request(method, params), this.#options.config.current.timeouts.connectMs, failure(late));
  }

  /**
   * Asks the server to report changes of a task, on the shared connection or on the one of `owner`.
   * Resolves with whether it will.
   */
  async watchTask(serverId: string, taskId: string, owner?: PeerOwner): Promise<boolean> {
    try {
      const peer = await this.#peerOf(serverId, owner);
      if (!peer?.watchTask) return peer !== undefined;
      return await withTimeout(peer.watchTask(taskId), this.#options.config.current.timeouts.connectMs, false);
    } catch {
      return false;
    }
  }

  async unwatchTask(serverId: string, taskId: string, owner?: PeerOwner): Promise<void> {
    const isOpen = typeof owner !== "object" || this.hasOwned(serverId, owner.key);
    const peer = isOpen ? await this.#peerOf(serverId, owner).catch(() => undefined) : undefined;
    peer?.unwatchTask?.(taskId);
  }

  /** Closes the connections of a client that is gone. */
  release(clientKey: string): void {
    for (const server of this.roster.serving()) server.release(clientKey);
    this.#options.catalog.disown(clientKey);
  }

  notifyOwned(clientKey: string, method: string): void {
    for (const { backend } of this.#each()) backend.connections.notifyOwned(clientKey, method);
  }

  /** Sends a notification of the only client, on the connections that are not its own by config. */
  notifyShared(method: string): void {
    for (const { backend } of this.roster.values()) backend.connections.notifyShared(method);
  }

  /** Sends a client's notification to one server. */
  notify(serverId: string, client: Client, message: { readonly method: string; readonly params: string }): void {
    this.#backendOf(serverId, client)?.connections.notify(client, message.method, message.params);
  }

  /** The servers that are enabled and have a valid entry. */
  infos(): ServerInfo[] {
    const able = [...this.roster.values()].filter(({ config }) => config.enabled && !isInvalid(config));
    return able.map(({ id, info }) => ({ id, info }));
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** Sets the log level of every server, on the shared connections. */
  setLogLevel(level: string | undefined): void {
    this.#logLevel = level;
    for (const server of this.roster.values()) server.setLevel(level);
  }

  /** Sets the log level on the client's own connections. */
  setOwnedLogLevel(client: Client): void {
    for (const { backend } of this.#each()) backend.connections.setOwnedLogLevel(client);
  }

  /** Rejects if the client's own connection cannot be made. */
  async #peerOf(serverId: string, owner: PeerOwner): Promise<Peer | undefined> {
    if (typeof owner === "object") return this.#ownPeer(serverId, owner);
    const principal = owner === undefined ? undefined : principalOf(owner);
    if (principal !== undefined) await this.open(serverId, principal);
    const backend = this.#opened(serverId, principal)?.backend;
    return owner === SESSIONS ? backend?.connections.sessionsPeer : backend?.peer;
  }

  async #ownPeer(serverId: string, owner: Client): Promise<Peer | undefined> {
    const server = this.roster.get(serverId);
    const backend = server?.servingOf(owner).backend;
    // The connection of a principal serves all its sessions.
    if (server?.callers && server.config.share !== "session") return backend?.peer;
    return backend?.connections.peerOf(owner);
  }

  #unreachable(serverId: string, owner: PeerOwner): Answer {
    const principal = typeof owner === "string" ? principalOf(owner) : undefined;
    const { state, reason, retryAfterMs } = this.#opened(serverId, principal)?.status ?? {};
    return principal !== undefined && state === "needs-login"
      ? loginRequired(serverId, reason)
      : gone(serverId, retryAfterMs);
  }

  /** The server, or the open one of this principal if each has its own. */
  #opened(serverId: string, principal: string | undefined): Server | undefined {
    const server = this.roster.get(serverId);
    return principal !== undefined && server?.callers ? server.callers.opened(principal) : server;
  }

  #backendOf(serverId: string, client: Client): Backend | undefined {
    return this.roster.get(serverId)?.servingOf(client).backend;
  }

  /** All servers, also those of single principals. */
  *#each(): Generator<Server> {
    for (const server of this.roster.values()) {
      yield server;
      yield* server.callers?.values() ?? [];
    }
  }
}
