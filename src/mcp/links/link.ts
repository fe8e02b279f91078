/**
 * The boundary between transport and protocol: a Link carries messages to one server over one
 * transport. Links know bytes, not MCP.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";

/** Options for one message that a Link sends. */
export interface SendOptions {
  /** The message's id, if it is a request. The link reports its answer or failure under this id. */
  readonly id?: number;
  /**
   * Pass the same frozen object for all messages with the same headers: links cache by identity.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called when the server has accepted or refused the message. Messages sent from then on arrive
   * after it.
   */
  readonly accepted?: () => void;
  /**
   * The call that this request belongs to. The link passes it back with every message on the
   * request's answer stream.
   */
  readonly call?: Call | undefined;
}

/**
 * The state of a failed request at the server. `unsent`: the server never received it. `over`: the
 * server is done with it. `unknown`: the server may still be working on it.
 */
export type Fate = "unsent" | "over" | "unknown";

export interface LinkEvents {
  /**
   * A message arrived. `stream`: the id of the request whose own answer stream carried it, if the
   * transport has one. `call`: that request's call. Both are also set after the answer, until the
   * stream closes.
   */
  message(bytes: Buffer, stream: number | undefined, call?: Call): void;
  /** The request will not be answered, but the link is still usable. */
  failed(id: number, error: GoblinError, fate: Fate): void;
  /** Returns whether the request still waits for its answer. */
  waiting(id: number): boolean;
  /**
   * The link is closed. `renew`: the server is reachable but requires a new connection. Requests in
   * flight on this link are then still answered or failed one by one, and a final call without
   * `renew` may follow.
   */
  closed(error: GoblinError, renew?: boolean): void;
  /** Messages that belong to no request may have been lost. */
  missed?(): void;
  /** Reports a harmless anomaly, for example garbage on stdout or an overlong line. */
  problem(message: string, detail?: string): void;
}

export interface Link {
  /** Whether the server keeps a session for this link, by which it recognizes the next message. */
  readonly hasSession?: boolean;
  send(text: string, options?: SendOptions): void;
  /** The caller no longer wants the answer to this request. */
  drop(id: number): void;
  /** Removes a request from the write queue. Returns false if it was already written. */
  takeBack?(id: number): boolean;
  /**
   * The handshake is complete. From now on the link sends these headers with every message and
   * listens for messages that belong to no request.
   */
  established(headers: Readonly<Record<string, string>>): void;
  /** What the server said that may explain why it does not answer, if anything. */
  readonly hint?: string | undefined;
  /**
   * Reports to another listener from now on, where the transport can. Returns false if the link is
   * closed.
   */
  redirect?(events: LinkEvents): boolean;
  close(): Promise<void>;
}

/** `signal` aborts the attempt. */
export type OpenLink = (events: LinkEvents, signal?: AbortSignal) => Promise<Link>;
