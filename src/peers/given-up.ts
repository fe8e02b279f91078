/**
 * Why a call was given up, as the server is told: in the client's own words where it had some.
 */
import type { Call, CancelReason } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";

const WORDS: Readonly<Record<CancelReason, string>> = {
  timeout: "Timed out",
  client: "Cancelled by the client",
  shutdown: "The gateway is shutting down",
};

export function whyGivenUp(call: Call, reason: CancelReason): string {
  return call.cancelWords ?? WORDS[reason];
}

/** The answer of a call that was given up. */
export function givenUp(reason: CancelReason): Answer {
  return failure(new GoblinError("CANCELLED", WORDS[reason]));
}
