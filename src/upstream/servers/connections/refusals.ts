/** The errors of calls that a server cannot take now, with what helps. */
import { memberText, setMember } from "../../../lib/json/json-text.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { type Answer, type ErrorAnswer, failure } from "../../../mcp/protocol/json-rpc.ts";

/** No fault of the server: the breaker does not count it. */
export function loginRequired(serverId: string, message = `Server "${serverId}" needs a login`): Answer {
  const data = { serverId, remedy: `goblin login ${serverId}` };
  return { ...failure(new GoblinError("LOGIN_REQUIRED", message, { data })), unsent: true };
}

export function unavailable(serverId: string, reason: string, retryAfterMs: number | undefined): Answer {
  const data = { serverId, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return failure(new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is unavailable: ${reason}`, { data }));
}

/** While the server is reconnected, its errors say when to try again. */
export function withRetry(answer: ErrorAnswer, retryAfterMs: number | undefined): Answer {
  const data = memberText(answer.raw, "data") ?? "{}";
  if (retryAfterMs === undefined || memberText(data, "retryAfterMs") !== undefined) return answer;
  return { ...answer, raw: setMember(answer.raw, "data", setMember(data, "retryAfterMs", String(retryAfterMs))) };
}

/** There is no such server, or no connection to it. */
export function gone(serverId: string, retryAfterMs?: number): Answer {
  const message = `Server "${serverId}" is not connected`;
  const data = { serverId, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return failure(new GoblinError("BACKEND_UNAVAILABLE", message, { data }));
}
