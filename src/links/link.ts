/**
 * The seam between a transport and a protocol: a Link carries messages to one server over one
 * transport. Links know bytes, not MCP.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";

/** Belongs to a message that a Link sends. */
export interface SendOptions {
  /**
   * The id of the request that this message is; its answer, or its failure, is reported under it.
   */
  readonly id?: number;
  /** A frozen object comes again with every message that has the same headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Runs when the message has been taken (or refused): what is sent from then on arrives after it.
   */
  readonly accepted?: () => void;
  /**
   * The call that the request is for. It comes back with each message on the request's own answer
   * stream.
   */
  readonly call?: Call | undefined;
}

/**
 * What the server may do with a request that failed: it never got it, it is done with it, or it may
 * still work on it.
 */
export type Fate = "unsent" | "over" | "unknown";

export interface LinkEvents {
  /**
   * A message arrived. `stream` is the request on whose own answer stream it came, where the
   * transport has such, and `call` what that request was sent for; both also after the answer,
   * until the stream closes.
   */
  message(bytes: Buffer, stream: number | undefined, call?: Call): void;
  /** The request cannot be answered any more, though the link as such lives. */
  failed(id: number, error: GoblinError, fate: Fate): void;
  /** Whether the request still waits for its answer. */
  waiting(id: number): boolean;
  /**
   * The link is gone, once. `renew`: the server answers, but wants a new connection; requests that
   * are under way on this one are still answered or failed one by one.
   */
  closed(error: GoblinError, renew?: boolean): void;
  /** Messages that belong to no request may have been missed. */
  missed?(): void;
  /** Something odd that does no harm: garbage on stdout, an overlong line. */
  problem(message: string, detail?: string): void;
}

export interface Link {
  send(text: string, options?: SendOptions): void;
  /** The request's answer is not wanted any more. */
  drop(id: number): void;
  /** Takes a request back that has not been written yet; false: it has. */
  takeBack?(id: number): boolean;
  /**
   * The handshake is done: from now on send these headers along, and listen for messages that
   * belong to no request.
   */
  established(headers: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

/** The signal gives up an attempt that is not wanted any more. */
export type OpenLink = (events: LinkEvents, signal?: AbortSignal) => Promise<Link>;
