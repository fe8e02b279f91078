/**
 * The events of the servers. Other parts listen on `Servers` directly; no part relays events.
 *
 * Steps that the servers must wait for are calls instead of events: see `Subscribers`.
 */

import type { Audience, TaskNote } from "../../mcp/peers/peer.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import type { Answer } from "../../mcp/protocol/json-rpc.ts";
import type { BackendStatus } from "./backend.ts";

export type { TaskNote };

export interface ServerLogMessage {
  readonly serverId: string;
  readonly level: string;
  /** Raw JSON. */
  readonly params: string;
  readonly to: Audience;
}

export interface ResourceUpdate {
  readonly serverId: string;
  readonly uri: string;
  /** Raw JSON. */
  readonly params: string;
  /** The client or the principal whose own connection reported it. */
  readonly ownerKey: string | undefined;
}

/** A notification of a server that the gateway does not know. */
export interface ServerNotification {
  readonly serverId: string;
  readonly method: string;
  /** Raw JSON. */
  readonly params: string;
  readonly to: Audience;
}

export interface ServerEvents {
  notified: [notification: ServerNotification];
  /** A client was given a link to open; the server may report later that this is done. */
  linked: [serverId: string, elicitationId: string, client: Client];
  log: [message: ServerLogMessage];
  /** A resource changed. */
  updated: [update: ResourceUpdate];
  /** The status of a task changed. `owner`: the client whose own connection reported it. */
  taskStatus: [serverId: string, note: TaskNote, owner: Client | undefined];
  status: [serverId: string, status: BackendStatus];
  /** A client's own connection was restored, or may have lost notifications. */
  ownRestored: [serverId: string, ownerKey: string];
  /** Somebody logged in to the server. `owner`: whose login it is; empty: the gateway's. */
  loggedIn: [serverId: string, owner: string];
  /** The server was removed or disabled. */
  removed: [serverId: string];
  /** The server's lists have been fetched. */
  synced: [serverId: string, ms: number];
}

/** What a client says of itself in a handshake. */
export type Introduction = Pick<Client, "capabilities" | "info">;

/** The only client that the gateway can have, if it has one channel. */
export interface SoleClient {
  /** It has no session. */
  readonly lacksSession: boolean;
  /** Resolves to what it said of itself, when it has; undefined: nothing. */
  introduction(): Promise<Introduction | undefined>;
  /** Asks it a server's question outside of a call. Undefined: it cannot be asked like this. */
  ask(method: string, params: string, signal: AbortSignal): Promise<Answer | undefined>;
}

/** The servers' view of the resource subscriptions. */
export interface Subscribers {
  /**
   * The server has a new connection without the earlier subscriptions. The server is not ready
   * until this resolves. `ownerKey`: the principal whose connection it is, if it has its own.
   */
  restored(serverId: string, ownerKey?: string): Promise<void>;
  /** Clients use another connection to the server from now on. */
  moved(serverId: string): void;
  /**
   * Returns whether the own connection of this client or principal must be restored without waiting
   * for a call.
   */
  wantsConnection(serverId: string, ownerKey: string): boolean;
}
