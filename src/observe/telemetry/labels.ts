/**
 * The allowed values of metric labels. A value from outside (a method, a MIME type, an error code)
 * is used only if a list here or the config contains it. All others share one label, so the number
 * of series is bounded, no matter what clients and servers send.
 */
import { errorTable, knownServerCodes } from "../../mcp/protocol/errors.ts";
import { type Answer, type ErrorAnswer, shownCode } from "../../mcp/protocol/json-rpc.ts";
import { listMethods, routedMethods } from "../../mcp/protocol/methods.ts";
import type { Outcome } from "../../mcp/protocol/outcomes.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";

/** The server label of requests that belong to no server. */
export const NO_SERVER = "none";
/** The server label of requests that the gateway answers itself. No server can have this id. */
export const GATEWAY = "goblin";

const methods: ReadonlySet<string> = new Set([
  ...routedMethods.keys(),
  ...listMethods.keys(),
  "resources/subscribe",
  "resources/unsubscribe",
]);

const mimeTypes: ReadonlySet<string> = new Set([
  "text/plain",
  "text/markdown",
  "text/html",
  "text/css",
  "text/csv",
  "text/xml",
  "text/javascript",
  "text/x-python",
  "text/x-typescript",
  "text/yaml",
  "application/json",
  "application/xml",
  "application/yaml",
  "application/javascript",
  "application/typescript",
  "application/pdf",
  "application/zip",
  "application/gzip",
  "application/octet-stream",
  "application/sql",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/svg+xml",
  "audio/mpeg",
  "audio/wav",
  "audio/ogg",
  "video/mp4",
  "video/webm",
]);

const rpcCodes: ReadonlySet<number> = new Set([
  ...Object.values(errorTable).map(({ rpc }) => rpc),
  ...knownServerCodes,
]);

export function methodLabel(method: string): string {
  return methods.has(method) ? method : "other";
}

/** Returns `unknown` if the server sent no MIME type. */
export function mimeLabel(mimeType: string | undefined): string {
  if (mimeType === undefined) return "unknown";
  if (mimeTypes.has(mimeType)) return mimeType;
  const plain = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  return mimeTypes.has(plain) ? plain : "other";
}

/**
 * Returns who sent a request, as far as the config names it: a token by its name, an access token
 * by its issuer. Empty: no token was needed.
 */
export function whoLabel({ id }: Pick<Principal, "id">): string {
  if (id.startsWith("client:")) return id.slice("client:".length);
  const issuerEnd = id.indexOf("\u001f");
  if (issuerEnd >= 0) return id.slice(0, issuerEnd);
  return id === "" ? "" : "unnamed token";
}

/** Tokens can be tied to any set of profiles, so sets share a label. Empty: no profile. */
export function profileLabel(profile: string | undefined): string {
  return profile?.includes(",") ? "several profiles" : (profile ?? "");
}

/**
 * Returns `error.type` of the semantic conventions for MCP; undefined if nothing failed. `outcome`:
 * how the call ended, as the metrics name it.
 */
export function errorType(answer: Answer, outcome: Outcome): string | undefined {
  if (outcome === "ok") return undefined;
  if (outcome === "tool-error") return "tool_error";
  if (outcome === "timeout" || outcome === "cancelled") return outcome;
  return answer.ok ? outcome : String(answer.code);
}

/** The same for a label: all codes that servers make up are one. */
export function errorTypeLabel(answer: Answer, outcome: Outcome): string | undefined {
  const type = errorType(answer, outcome);
  return !answer.ok && type === String(answer.code) && !isKnownCode(answer.code) ? "_OTHER" : type;
}

/** Whether a numeric error code is one of those that may be a label. */
function isKnownCode(code: number): boolean {
  return rpcCodes.has(code);
}

/** Returns `rpc.response.status_code` of the conventions, for a label. */
export function statusLabel({ code }: ErrorAnswer): string {
  return isKnownCode(code) ? String(code) : "_OTHER";
}

/** Returns the gateway's own code, or the server's numeric code. */
export function codeLabel(answer: ErrorAnswer): string {
  const code = shownCode(answer);
  return typeof code === "string" ? code : isKnownCode(code) ? String(code) : "other";
}
