/** What is known of one question to a person, and of what was allowed by the answer. */
import type { Subject } from "./subject.ts";

/** How long an answer holds. `always`: this call only, and the rule that would make it hold on. */
export const spans = ["once", "hour", "session", "always"] as const;
export type Span = (typeof spans)[number];

/** `held`: nobody has answered. `ended`: nobody will; the call was not run. */
export type ApprovalState = "held" | "allowed" | "denied" | "ended";

/**
 * Why a question ended without an answer. `timeout`: nobody answered in time. `cancelled`: its
 * client has gone, or does not want it any more. `shutdown`, `restart`: the gateway stopped.
 */
export type EndReason = "timeout" | "cancelled" | "shutdown" | "restart";

export interface ApprovalRecord {
  readonly id: string;
  readonly subject: Subject;
  /**
   * The arguments for people, in canonical form with secrets masked. Long ones are cut when the
   * question is over.
   */
  shown: string;
  readonly bytes: number;
  /** Milliseconds since 1970, as all times here. */
  readonly proposedAt: number;
  /** When it ends if nobody answers. */
  readonly expiresAt: number;
  state: ApprovalState;
  /** Who answered. */
  by?: string | undefined;
  answeredAt?: number | undefined;
  span?: Span | undefined;
  /** The text of the person who denied it. */
  words?: string | undefined;
  ended?: EndReason | undefined;
  /** How often calls were run because of it. */
  runs: number;
  /** How the last of them ended; `unknown`: the gateway stopped meanwhile. */
  outcome?: string | undefined;
}

/** What an answer allows: calls with the same key, while it lasts. */
export interface Grant {
  readonly id: string;
  /** The question that was answered. */
  readonly approval: string;
  readonly key: string;
  readonly subject: Subject;
  readonly span: Span;
  readonly by: string;
  readonly at: number;
  readonly expiresAt: number;
  /** How many calls it still allows; null: any number. */
  uses: number | null;
}
