/**
 * The two seams of a backend: the Link, which carries messages to one server over one transport,
 * and the Peer, which speaks one era's protocol over a Link. Links know bytes, not MCP; peers know
 * MCP, not sockets or processes.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import type { ChangeKind } from "../protocol/methods.ts";

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
}

export interface LinkEvents {
  /**
   * A message arrived; `stream` is the request on whose own answer stream it came, where the
   * transport has such.
   */
  message(bytes: Buffer, stream: number | undefined): void;
  /**
   * The request cannot be answered any more, though the link as such lives. `unsent`: the server
   * surely did not act on it.
   */
  failed(id: number, error: GoblinError, unsent?: boolean): void;
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
  /**
   * The handshake is done: from now on send these headers along, and listen for messages that
   * belong to no request.
   */
  established(headers: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

/** The signal gives up an attempt that is not wanted any more. */
export type OpenLink = (events: LinkEvents, signal?: AbortSignal) => Promise<Link>;

/** Whose question it is: a call's, nobody's (no call is under way), or nobody can tell. */
export type Origin = Call | "none" | "several";

export interface PeerEvents {
  changed(kind: ChangeKind): void;
  updated(uri: string, params: string): void;
  /** A log message; `params` is raw JSON. */
  log(level: string, params: string, origin: Origin): void;
  /** The server says what has become of a task; `params` is raw JSON. */
  task(taskId: string, params: string): void;
  ask(method: string, params: string, origin: Origin): Promise<Answer>;
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
   * `params` is raw JSON with the server's own identifiers. Without a call it is the gateway's own
   * request.
   */
  request(method: string, params: string, call?: Call): Promise<Answer>;
  notify(method: string, params?: string): void;
  /** Asks for a sign of life where the protocol has one; any answer is one. */
  probe?(): Promise<boolean>;
  close(): Promise<void>;
}
