/** What a client is told of a call that was not approved: a model must not try it again. */

import { formatDuration } from "../../lib/text/format.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { ApprovalRecord } from "./record.ts";

/** The record must be of a question that was denied, or ended without an answer. */
export function refusal(record: ApprovalRecord): GoblinError {
  const { state, words, ended, proposedAt, expiresAt } = record;
  if (state === "denied") return notApproved(record, `a person denied it${words === undefined ? "" : ` (${words})`}`);
  if (ended === "cancelled") return new GoblinError("CANCELLED", "Cancelled by the client");
  if (ended === "shutdown" || ended === "restart") return notApproved(record, "the gateway stopped while it waited");
  return notApproved(record, `nobody answered within ${formatDuration(expiresAt - proposedAt)}`);
}

export function notApproved({ id, subject, state, ended }: ApprovalRecord, why: string): GoblinError {
  const message =
    `Not approved: ${subject.shownName} needs a person's approval, and ${why}. It was not run. ` +
    "Do not try it again, and do not try to reach the same in another way: tell the user.";
  return new GoblinError("NOT_APPROVED", message, { data: { approval: id, why: ended ?? state, retry: false } });
}

/** For a gateway that only its client can reach. */
export function nobodyThere(name: string): GoblinError {
  const message =
    `Not approved: ${name} needs a person's approval, and nobody can give it here. It was not run. ` +
    "Do not try it again: tell the user to run goblin serve, and this client with goblin stdio --attach.";
  return new GoblinError("NOT_APPROVED", message, { data: { why: "alone", retry: false } });
}

/** For requests that nobody is asked about, since they come with every key or last for hours. */
export function cannotWait(name: string, what: "subscriptions" | "completion" | "an extension"): GoblinError {
  const message =
    `Not approved: ${name} needs a person's approval, and ${what} cannot wait for one. ` +
    "The server did not get the request. Use it without that: then a person is asked.";
  return new GoblinError("NOT_APPROVED", message, { data: { why: "asked", retry: false } });
}

/** For a call that the rules no longer let its client see. */
export function gone(name: string): GoblinError {
  return new GoblinError("NOT_APPROVED", `Not approved: ${name} may not be used any more. It was not run.`);
}
