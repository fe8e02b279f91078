/**
 * A connected server as the rest of the gateway sees it: a Peer speaks one era's protocol over a
 * Link. Peers know MCP, not sockets or processes.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import type { ChangeKind } from "../protocol/methods.ts";

/** Whose question it is: a call's, nobody's (no call is under way), or nobody can tell. */
export type Origin = Call | "none" | "several";

/** Who a log message is for: besides, the one party that all calls so far were of. */
export type Audience = Origin | { readonly party: string };

/** A server's question, and what becomes of it. */
export interface Asked {
  readonly origin: Origin;
  /** Aborts when the server takes the question back, or has gone. */
  readonly signal: AbortSignal;
}

export interface PeerEvents {
  changed(kind: ChangeKind): void;
  updated(uri: string, params: string): void;
  /** A log message; `params` is raw JSON. */
  log(level: string, params: string, to: Audience): void;
  /** The server says what has become of a task; `params` is raw JSON. */
  task(taskId: string, params: string): void;
  ask(method: string, params: string, asked: Asked): Promise<Answer>;
  closed(error: GoblinError, renew?: boolean): void;
  /** Notifications may have been missed, though the connection stands. */
  missed?(): void;
  problem(message: string, detail?: string): void;
}

export interface PeerInfo {
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

/** A connected server. Requests are answered exactly once, whatever happens to the connection. */
export interface Peer {
  readonly info: PeerInfo;
  readonly inFlight: number;
  /**
   * The server keeps nothing of one request for the next, so that no client can meet another's
   * state on it.
   */
  readonly keepsNothing?: boolean;
  /**
   * `params` is raw JSON with the server's own identifiers. Without a flight it is the gateway's
   * own request.
   */
  request(method: string, params: string, flight?: Flight): Promise<Answer>;
  notify(method: string, params?: string): void;
  /** Asks for a sign of life where the protocol has one; any answer is one. */
  probe?(): Promise<boolean>;
  close(): Promise<void>;
}
