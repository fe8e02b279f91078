/**
 * The gateway's state of one call: its start time, its server, and the data that the stages keep.
 *
 * The relay makes one Flight for every request, including those that the gateway answers itself. So
 * every stage finds the start time here and depends on no other stage.
 */
import type { Call } from "./call.ts";
import type { AskFirst } from "./principal.ts";

/** The timeout of a flight, shared by the stage that owns it and the peers that extend it. */
export interface Deadline {
  /** Restarts the clock: the server reported progress. */
  progress(): void;
  /** Pauses the clock: the server waits for the client's answer, and the client may be a person. */
  asks(): void;
  /**
   * Resumes the clock: the server has the answer. `isOwn`: the question certainly was this call's,
   * which restarts the clock.
   */
  answered(isOwn: boolean): void;
  /** Stops the clock altogether, the overall limit too: a person decides whether the call runs. */
  hold(): void;
  /** Lets it go on where it stood. */
  release(): void;
  stop(): void;
  readonly expired: boolean;
  /** Whether it expired while the client was being asked, so the server is not to blame. */
  readonly expiredWhileAsking: boolean;
  /** The limit that expired, in milliseconds. */
  readonly reached: number;
}

export class Flight {
  readonly call: Call;
  /** The start time, on the clock of `performance.now()`. */
  readonly startedAt = performance.now();
  /** When the request went to its server, on the same clock; 0 before that. */
  sentAt = 0;
  /** The id of the newest request for it on the server's connection; 0 before that. */
  sentId = 0;
  /** When the server answered; 0 before that. */
  answeredAt = 0;
  /** The server that the call belongs to; undefined if it is not yet resolved or has none. */
  serverId: string | undefined;
  /** The server's own identifier of the tool, prompt or resource. */
  target: string | undefined;
  /** The server's own state that the client brought back sealed, in JSON. */
  serverState: string | undefined;
  /** Set while a person must allow the call: nothing with this member may reach a server. */
  asksFirst: AskFirst | undefined;
  /** The rule of the policy that refused it. */
  rule: string | undefined;
  /** How many keys and tokens were masked in its arguments and its result. */
  masked = 0;
  /** Whether it passes the stages of routed requests. */
  isRouted = false;
  /** Undefined for a call without its own timeout. */
  deadline: Deadline | undefined;
  /** The index among the flights in progress. */
  place = -1;

  constructor(call: Call) {
    this.call = call;
  }
}
