/**
 * What the gateway does about one call: when it began, which server it goes to, and what the
 * stages hold for it.
 *
 * The entrance makes one Flight for every request, also for those that the gateway answers itself,
 * so every stage finds its start time here and depends on no other stage.
 */
import type { Call } from "./call.ts";

/** The time limit of a flight, as the stage that keeps it and the peers that move it see it. */
export interface Deadline {
  /** The server reported progress: the clock starts anew. */
  progress(): void;
  /** The server waits for an answer of the client, who may be a person: the clock stands still. */
  asks(): void;
  /** The server has that answer. */
  answered(): void;
  stop(): void;
  readonly expired: boolean;
  /** It expired while the client was asked, so the server is not to blame. */
  readonly expiredWhileAsking: boolean;
  /** The limit that expired, in milliseconds. */
  readonly reached: number;
}

export class Flight {
  readonly call: Call;
  /** On the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  /** The server that the call belongs to; undefined until it is resolved, or if it has none. */
  serverId: string | undefined;
  /** The identifier that the server knows the thing by. */
  target: string | undefined;
  /** Undefined for a call that has no time limit of its own. */
  deadline: Deadline | undefined;
  /** The index in the list of flights under way. */
  slot = -1;

  constructor(call: Call) {
    this.call = call;
  }
}
