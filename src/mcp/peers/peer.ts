/**
 * A connected server as the rest of the gateway sees it: a Peer speaks one era's protocol over a
 * Link. Peers know MCP, not sockets or processes.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import type { ChangeKind } from "../protocol/methods.ts";

/**
 * The call that a question belongs to. "none": no call is in flight. "several": more than one party
 * could be meant.
 */
export type Origin = Call | "none" | "several";

/** The recipients of a log message. `party`: the only party that has used the connection so far. */
export type Audience = Origin | { readonly party: string };

/** A server's notification about one of its tasks. */
export interface TaskNote {
  /** The server's own id. */
  readonly taskId: string;
  readonly method: string;
  /** Raw JSON, with the server's own ids. */
  readonly params: string;
}

/** The context of a server's question. */
export interface QuestionContext {
  readonly origin: Origin;
  /** Other calls of the origin's client that the question may belong to instead. */
  readonly others?: readonly Call[] | undefined;
  /** Aborts when the server cancels the question or disconnects. */
  readonly signal: AbortSignal;
}

export interface PeerEvents {
  changed(kind: ChangeKind): void;
  updated(uri: string, params: string): void;
  /** A log message; `params` is raw JSON. */
  log(level: string, params: string, to: Audience): void;
  /** A notification that the gateway does not know; `params` is raw JSON. */
  notified(method: string, params: string, to: Audience): void;
  /** The status of a task changed. */
  task(note: TaskNote): void;
  ask(method: string, params: string, asked: QuestionContext): Promise<Answer>;
  closed(error: GoblinError, renew?: boolean): void;
  /** Notifications may have been lost, although the connection is still open. */
  missed?(): void;
  problem(message: string, detail?: string): void;
}

export interface PeerInfo {
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

/** A connected server. Every request is answered exactly once, even if the connection breaks. */
export interface Peer {
  readonly info: PeerInfo;
  readonly inFlight: number;
  /** The server keeps no state between requests, so no client can see another client's state. */
  readonly keepsNothing?: boolean;
  /** The server gets some arguments in headers, too, as its tools declare. */
  readonly mirrorsArguments?: boolean;
  /**
   * The server may also have a connection for clients with a session, on which it can ask them: see
   * `Wanted`.
   */
  readonly sessionsApart?: boolean;
  /**
   * `params` is raw JSON with the server's own identifiers. A request without a flight is the
   * gateway's own.
   */
  request(method: string, params: string, flight?: Flight): Promise<Answer>;
  notify(method: string, params?: string): void;
  /**
   * Asks the server to report changes of a task. Resolves with whether it will. Absent: servers of
   * this era report them unasked.
   */
  watchTask?(taskId: string): Promise<boolean>;
  /** The server need not report the task any more. */
  unwatchTask?(taskId: string): void;
  /**
   * Checks whether the server responds, if the protocol has a request for that. An error also
   * counts.
   */
  probe?(): Promise<boolean>;
  close(): Promise<void>;
}
