/** Makes a client's params ready for a server with a handshake. */
import { dropMembers, memberSpan, setMember } from "../../../lib/json/json-text.ts";
import type { Call } from "../../protocol/call.ts";
import { META_PREFIX } from "../../protocol/envelope.ts";

/**
 * Returns the params for the server, with our progress token (`id`) instead of the client's and
 * without keys of the other era.
 */
export function outgoingParams(params: string, call: Call, id: number): string {
  const meta = call.params["_meta"];
  if (typeof meta !== "object" || meta === null) return params;
  const span = memberSpan(params, 0, "_meta");
  if (!span) return params;
  let text = dropMembers(params.slice(span.start, span.end), (key) => key.startsWith(META_PREFIX));
  if (call.progressToken !== undefined) text = setMember(text, "progressToken", String(id));
  return params.slice(0, span.start) + text + params.slice(span.end);
}
