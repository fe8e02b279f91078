/**
 * The reason for a cancelled call, as sent to the server. The client's own reason is used if it
 * gave one.
 */
import type { Call, CancelReason } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";

const WORDS: Readonly<Record<CancelReason, string>> = {
  timeout: "Timed out",
  client: "Cancelled by the client",
  shutdown: "The gateway is shutting down",
};

export function cancelReasonText(call: Call, reason: CancelReason): string {
  return call.cancelWords ?? WORDS[reason];
}

/** Returns the answer of a cancelled call. */
export function cancelledAnswer(reason: CancelReason): Answer {
  return failure(new GoblinError("CANCELLED", WORDS[reason]));
}
