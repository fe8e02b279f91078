/** Tells from a call and its answer how the call ended. */

import { JsonKey } from "../../lib/json/json-key.ts";
import { memberText } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { type Answer, type Raw, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Outcome } from "../../mcp/protocol/outcomes.ts";

const IS_ERROR = new JsonKey("isError");

export function outcomeOf(call: Call, answer: Answer): Outcome {
  if (answer.ok) return call.method === "tools/call" && isToolError(answer.raw) ? "tool-error" : "ok";
  switch (answer.symbol) {
    case "TIMEOUT":
    case "PROMPT_TIMEOUT":
      return "timeout";
    case "BACKEND_UNAVAILABLE":
    case "LOGIN_REQUIRED":
      return "unavailable";
    case "CANCELLED":
      return "cancelled";
    default:
      return call.cancelled === "client" ? "cancelled" : "error";
  }
}

/** Whether a tool's result reports an error. The text is parsed only if it contains the key. */
function isToolError(raw: Raw): boolean {
  return IS_ERROR.isIn(raw) && memberText(rawText(raw), "isError") === "true";
}
