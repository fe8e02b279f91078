/** Whose connection to a server is meant, and what the gateway itself sends there. */
import type { Client } from "../../mcp/protocol/call.ts";

/** Stands for all clients with a session, as the owner of the connection that they share. */
export const SESSIONS = "sessions";

/** A request that the gateway makes itself. */
export interface OwnRequest {
  readonly method: string;
  readonly params: string;
}

/**
 * Whose connection is meant: a client's, the one of all clients with a session, or, under its key,
 * a principal's. Undefined: the one that all clients share.
 */
export type PeerOwner = Client | string | undefined;

/** Whose connection may carry a subscription. */
export interface Subscribing {
  readonly clientKey: string;
  readonly principal?: string | undefined;
  readonly hasSession: boolean;
}
