/** Reads the answer to `server/discover`, by which a server of this era is known. */
import { memberText } from "../../../lib/json/json-text.ts";
import { metaOf, modernVersions } from "../../protocol/envelope.ts";
import { GoblinError } from "../../protocol/errors.ts";
import type { Answer } from "../../protocol/json-rpc.ts";
import { logText, MAX_PROBLEM_LENGTH } from "../../protocol/log-text.ts";
import type { PeerInfo } from "../peer.ts";
import { infoFrom, readDescription } from "../self-description.ts";

/** The version that the gateway speaks in this era. */
export const VERSION = modernVersions[0]!;

/**
 * Returns undefined if the server does not speak this era. Throws if it cannot be reached or asks
 * for a login: then it may speak any.
 */
export function readDiscovery(answer: Answer): PeerInfo | undefined {
  if (!answer.ok) {
    const reason = answer.symbol === "LOGIN_REQUIRED" ? "login" : answer.reason;
    if (reason === undefined) return undefined;
    const message = logText(JSON.parse(memberText(answer.raw, "message") ?? "null"), MAX_PROBLEM_LENGTH);
    throw new GoblinError("BACKEND_UNAVAILABLE", message, { reason });
  }
  const result = readDescription(answer.raw);
  const { supportedVersions: versions, capabilities, instructions } = result;
  if (!Array.isArray(versions) || !versions.includes(VERSION)) return undefined;
  const serverInfo = metaOf(result)?.["io.modelcontextprotocol/serverInfo"];
  return infoFrom(VERSION, { capabilities, serverInfo, instructions });
}
