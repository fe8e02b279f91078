/**
 * The servers as the rest of the gateway sees them: what each one is and can do, and the ways to
 * reach it. It emits what they report (`ServerEvents`).
 */

import { EventEmitter } from "node:events";
import type { ConfigDiff } from "../config/diff.ts";
import type { ServerConfig } from "../config/schema/server.ts";
import type { Peer, PeerInfo } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import type { Backend, BackendStatus } from "./backend.ts";
import { StartQueue } from "./connections/start-queue.ts";
import type { ServerEvents, Subscribers } from "./events.ts";
import { Roster } from "./roster.ts";
import type { ServerOptions } from "./server.ts";
import { warnOfTemplates } from "./template-problems.ts";

export interface ServerInfo {
  readonly id: string;
  /** The last one while the server reconnects. Undefined if it is unknown. */
  readonly info: PeerInfo | undefined;
}

const nobody: Subscribers = { restored: async () => {}, wantsConnection: () => false };

/** A request that the gateway makes itself. */
export interface OwnRequest {
  readonly method: string;
  readonly params: string;
  /** Undefined: the request goes on the shared connection. */
  readonly owner?: Client | undefined;
}

export class Servers extends EventEmitter<ServerEvents> {
  /** Set by `Subscriptions`, which is built after the servers. */
  subscribers: Subscribers = nobody;
  readonly startQueue = new StartQueue();
  readonly #options: ServerOptions;
  /** The most verbose log level that any session asked for. */
  #logLevel: string | undefined;
  readonly #roster: Roster;

  constructor(options: ServerOptions) {
    super();
    this.#options = options;
    warnOfTemplates(options.catalog, options.log);
    this.#roster = new Roster(this, options);
  }

  /** Resolves when every enabled server has connected or failed once. */
  start(): Promise<void> {
    return this.#roster.start();
  }

  get settled(): boolean {
    return this.#roster.settled;
  }

  /**
   * Resolves when the lists of starting servers are known, or have been waited for. Undefined: they
   * are known.
   */
  firstLists(client: Pick<Client, "account" | "info">): Promise<void> | undefined {
    return this.#roster.firstLists.wait(client);
  }

  /** A client read a list: lists whose time is over are fetched again, in the background. */
  listRead(): void {
    for (const server of this.#roster.values()) server.listRead();
  }

  /** A server does not know a tool that its list names. */
  contradicted(serverId: string): void {
    this.#roster.get(serverId)?.contradicted();
  }

  ids(): string[] {
    return [...this.#roster.values()].map(({ id }) => id);
  }

  config(serverId: string): ServerConfig | undefined {
    return this.#roster.get(serverId)?.config;
  }

  status(serverId: string): BackendStatus | undefined {
    return this.#roster.get(serverId)?.backend.status;
  }

  /** Returns whether the server is connected, synced and resubscribed. It may still be degraded. */
  isUsable(serverId: string): boolean {
    const state = this.status(serverId)?.state;
    return state === "ready" || state === "degraded";
  }

  /** Returns a capability that the connected server declared. */
  capability(serverId: string, name: string): unknown {
    return this.#roster.get(serverId)?.backend.peer?.info.capabilities[name];
  }

  backend(serverId: string): Backend | undefined {
    return this.#roster.get(serverId)?.backend;
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
    const server = this.#roster.get(serverId);
    return server ? server.backend.forward(method, params, flight) : Promise.resolve(gone(serverId));
  }

  /** Sends the gateway's own request on the shared connection, or on the one of its `owner`. */
  async own(serverId: string, { method, params, owner }: OwnRequest): Promise<Answer> {
    let peer: Peer | undefined;
    try {
      const backend = this.#roster.get(serverId)?.backend;
      peer = owner ? await backend?.peerOf(owner) : backend?.peer;
    } catch (error) {
      return failure(error);
    }
    if (!peer) return gone(serverId, this.status(serverId)?.retryAfterMs);
    const late = new GoblinError("TIMEOUT", `Server "${serverId}" did not answer ${method} in time`, {
      data: { serverId },
    });
    return withTimeout(peer.request(method, params), this.#options.config.current.timeouts.connectMs, failure(late));
  }

  /**
   * Asks the server to report changes of a task, on the shared connection or on the one of `owner`.
   * Resolves with whether it will.
   */
  async watchTask(serverId: string, taskId: string, owner?: Client): Promise<boolean> {
    try {
      const backend = this.#roster.get(serverId)?.backend;
      const peer = owner ? await backend?.peerOf(owner) : backend?.peer;
      if (!peer?.watchTask) return peer !== undefined;
      return await withTimeout(peer.watchTask(taskId), this.#options.config.current.timeouts.connectMs, false);
    } catch {
      return false;
    }
  }

  async unwatchTask(serverId: string, taskId: string, owner?: Client): Promise<void> {
    const backend = this.#roster.get(serverId)?.backend;
    const isOpen = !owner || backend?.hasOwned(owner.key);
    const peer = isOpen && owner ? await backend?.peerOf(owner).catch(() => undefined) : backend?.peer;
    if (isOpen) peer?.unwatchTask?.(taskId);
  }

  /** Closes the connections of a client that is gone. */
  release(clientKey: string): void {
    for (const { backend } of this.#roster.serving()) backend.release(clientKey);
  }

  notifyOwned(clientKey: string, method: string): void {
    for (const { backend } of this.#roster.values()) backend.notifyOwned(clientKey, method);
  }

  infos(): ServerInfo[] {
    return [...this.#roster.values()].map(({ id, info }) => ({ id, info }));
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** Sets the log level of every server, on the shared connections. */
  setLogLevel(level: string | undefined): void {
    this.#logLevel = level;
    for (const server of this.#roster.values()) server.setLevel(level);
  }

  /** Sets the log level on the client's own connections. */
  setOwnedLogLevel(client: Client): void {
    for (const { backend } of this.#roster.values()) backend.setOwnedLogLevel(client);
  }

  /** Applies a config that is already the live one; see `Roster`. */
  apply(diff: ConfigDiff): Promise<void> {
    return this.#roster.apply(diff);
  }

  close(): Promise<void> {
    return this.#roster.close();
  }
}

function gone(serverId: string, retryAfterMs?: number): Answer {
  const message = `Server "${serverId}" is not connected`;
  const data = { serverId, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return failure(new GoblinError("BACKEND_UNAVAILABLE", message, { data }));
}
