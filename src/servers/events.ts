/**
 * The events of the servers. Other parts listen on `Servers` directly; no part relays events.
 *
 * Steps that the servers must wait for are calls instead of events: see `Subscribers`.
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
   * A resource changed; `params` is raw JSON. `ownerKey`: the client whose own connection reported
   * it.
   */
  updated: [serverId: string, uri: string, params: string, ownerKey: string | undefined];
  /**
   * The status of a task changed; `params` is raw JSON. `owner`: the client whose own connection
   * reported it.
   */
  taskStatus: [serverId: string, taskId: string, params: string, owner: Client | undefined];
  status: [serverId: string, status: BackendStatus];
  /** A client's own connection was restored, or may have lost notifications. */
  ownRestored: [serverId: string, ownerKey: string];
  /** The server was removed or disabled. */
  removed: [serverId: string];
  /** The server's lists have been fetched. */
  synced: [serverId: string, ms: number];
}

/** The servers' view of the resource subscriptions. */
export interface Subscribers {
  /**
   * The server has a new connection without the earlier subscriptions. The server is not ready
   * until this resolves.
   */
  restored(serverId: string): Promise<void>;
  /** Returns whether this client's own connection must be restored without waiting for a call. */
  wantsConnection(serverId: string, ownerKey: string): boolean;
}
