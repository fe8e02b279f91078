/**
 * What the servers report. Parts that want to know listen on `Servers`; nobody relays.
 *
 * What must happen in order, with the servers waiting for it, is a call instead: see `Subscribers`.
 */

import type { Audience } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import type { BackendStatus } from "./backend.ts";

export interface ServerLogMessage {
  readonly level: string;
  /** Raw JSON. */
  readonly params: string;
  readonly to: Audience;
}

export interface ServerEvents {
  log: [message: ServerLogMessage];
  /**
   * A resource changed; `params` is raw JSON. `ownerKey`: the client whose own connection said so.
   */
  updated: [serverId: string, uri: string, params: string, ownerKey: string | undefined];
  /** A task has another state; `params` is raw JSON. `owner`: whose own connection said so. */
  taskStatus: [serverId: string, taskId: string, params: string, owner: Client | undefined];
  status: [serverId: string, status: BackendStatus];
  /** The connection that one client has of its own was made again. */
  ownRestored: [serverId: string, ownerKey: string];
  /** The server is gone for good, or disabled. */
  removed: [serverId: string];
  /** The server's lists have been fetched. */
  synced: [serverId: string, ms: number];
}

/** Who subscribed to resources, as the servers must know it. */
export interface Subscribers {
  /**
   * The server has a new connection, which knows nothing of earlier subscriptions. The server is
   * not ready until this has ended.
   */
  restored(serverId: string): Promise<void>;
  /** Whether this client's own connection must be made again by itself when it breaks. */
  wantsConnection(serverId: string, ownerKey: string): boolean;
}
