/** What a server and its `Backend` are made from, and what the `Backend` tells. */

import type { Logins } from "../../auth/login/logins.ts";
import type { Secrets } from "../../auth/secrets/secrets.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { Config } from "../../config/schema/config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import type { Connect, LinkTap } from "../../mcp/peers/negotiate.ts";
import type { Peer, PeerEvents, PeerInfo } from "../../mcp/peers/peer.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import type { ErrorAnswer } from "../../mcp/protocol/json-rpc.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import type { ServerState } from "../../mcp/protocol/server-states.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Lock } from "../lock/lock.ts";
import type { BulkheadLimits } from "./bulkhead.ts";
import type { ServerCatalog } from "./callers/own-catalog.ts";
import type { StartQueue } from "./connections/start-queue.ts";
import type { KeptLists } from "./lists/kept-lists.ts";
import type { ReportsHost } from "./reports/reports.ts";

/** Stands for all clients with a session, as the owner of the connection that they share. */
export const SESSIONS = "sessions";

export interface BackendStatus {
  readonly state: ServerState;
  readonly reason: string | undefined;
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number;
  readonly restarts: number;
  readonly info: PeerInfo | undefined;
  readonly inFlight: number;
  readonly queued: number;
  readonly retryAfterMs: number | undefined;
}

export interface BackendHooks {
  /**
   * A connection is established. Resolves when the lists have been fetched, with the problem if
   * some could not be.
   */
  connected(peer: Peer): Promise<string | undefined>;
  status(status: BackendStatus): void;
  /** A user restarts the server. */
  restarting(): void;
  /**
   * Returns the event handlers for a connection. `owner`: its client, if the connection is not
   * shared.
   */
  events(owner: Client | typeof SESSIONS | undefined): Omit<PeerEvents, "closed">;
  /** The connection of clients with a session is there; `again`: after a loss. */
  sessionsConnected(peer: Peer, again: boolean): void;
  /**
   * Returns whether a client's broken connection must be restored before the client's next call.
   */
  wantsOwned(scope: string): boolean;
  ownedRestored(scope: string): void;
  /** The server answered a client's call with an error. */
  refused(answer: ErrorAnswer, client: Client): void;
  /** A session's own connection is established. Resolves when its lists have been fetched. */
  ownConnected(owner: Client, peer: Peer): Promise<void>;
}

export interface BackendLimits extends BulkheadLimits {
  /**
   * The maximum number of connections that belong to single clients, if the server is not shared.
   */
  readonly connections: number;
}

export interface BackendOptions {
  readonly id: string;
  readonly share: ServerConfig["share"];
  /** Whether a start may take long because something is installed first. */
  readonly installs: boolean;
  /** Must release everything when the signal aborts. */
  readonly connect: Connect;
  /** Why the server must never be started. */
  readonly invalid?: string | undefined;
  readonly limits: BackendLimits;
  readonly onLimit: OnLimit;
  readonly hooks: BackendHooks;
}

/** The set that a server belongs to: receives its events and knows its subscribers. */
export interface ServerHost extends ReportsHost {
  readonly logLevel: string | undefined;
  readonly startQueue: StartQueue;
}

export interface ServerOptions {
  readonly config: LiveConfig;
  readonly catalog: ServerCatalog;
  readonly log: Logger;
  readonly onLimit: OnLimit;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /** Where the lists outlive the process. */
  readonly kept?: Pick<KeptLists, "read" | "keep"> | undefined;
  /** Decides what clients get of what a server lists. */
  readonly lock?: Lock | undefined;
  /** Without it, servers get what the config says and nothing else. */
  readonly logins?: Pick<Logins, "ofServer"> | undefined;
  readonly secrets: Secrets;
  /** Listens to the messages of servers' connections. */
  readonly recorder?: { tap(serverId: string): LinkTap } | undefined;
}

export function backendLimits({ limits }: Config): BackendLimits {
  const { inFlightPerServer: inFlight, queuePerServer: queue, connectionsPerServer: connections } = limits;
  return { inFlight, queue, connections };
}
