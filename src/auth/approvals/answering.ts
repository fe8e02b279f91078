/** Who may answer a question, and why an answer is refused. */
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { ApprovalRecord } from "./record.ts";

export interface Answering {
  readonly id: string;
  /** Who answers: an operator, as the guard of the API established it. */
  readonly by: Principal;
  /** The digest of the arguments that the operator has seen. Undefined: it is not compared. */
  readonly expect?: string | undefined;
}

const reasons = {
  unknown: "There is no such approval",
  answered: "This was answered already: an answer counts once",
  late: "This came too late: nobody waits for the answer any more, and the call was not run",
  self: "You cannot approve your own call: another operator must",
  changed: "The arguments are not the ones that you have seen: look at them again",
  "no-session": "The client has no session: allow it once or for an hour",
  unrecorded: "The answer cannot be recorded",
} as const;
export type RefusalReason = keyof typeof reasons;

/** Thrown for an answer that does not count. */
export class AnswerRefused extends Error {
  readonly why: RefusalReason;

  constructor(why: RefusalReason, message: string = reasons[why]) {
    super(message);
    this.why = why;
  }
}

/** Returns why the answer does not count, or undefined if it does. */
export function checkAnswer(
  record: ApprovalRecord | undefined,
  { by, expect }: Pick<Answering, "by" | "expect">,
): RefusalReason | undefined {
  if (!record) return "unknown";
  if (record.state === "ended") return "late";
  if (record.state !== "held") return "answered";
  // Without tokens everybody is the same principal, and nobody can be told apart.
  if (by.id !== "" && by.id === record.subject.principal) return "self";
  return expect !== undefined && expect !== record.subject.digest ? "changed" : undefined;
}
