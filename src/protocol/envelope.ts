/**
 * The `_meta` keys that a 2026-07-28 request carries in place of a handshake, and that its results
 * carry back. Only the files that translate between the eras use them.
 */
export const META_PREFIX = "io.modelcontextprotocol/";
export const PROTOCOL_VERSION = `${META_PREFIX}protocolVersion`;
export const CLIENT_CAPABILITIES = `${META_PREFIX}clientCapabilities`;
export const CLIENT_INFO = `${META_PREFIX}clientInfo`;
export const LOG_LEVEL = `${META_PREFIX}logLevel`;
export const SERVER_INFO = `${META_PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${META_PREFIX}subscriptionId`;

/** The versions without a handshake, newest first. */
export const statelessVersions: readonly string[] = ["2026-07-28"];

/** Whether the version has no handshake. Versions are dates, so they compare as text. */
export function isStateless(version: string): boolean {
  return version >= "2026-07-28";
}

export type Era = "legacy" | "modern";

/** Returns the era of a version. */
export function eraOf(version: string): Era {
  return isStateless(version) ? "modern" : "legacy";
}

export function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const meta = (params as Record<string, unknown>)["_meta"];
  return typeof meta === "object" && meta !== null && !Array.isArray(meta)
    ? (meta as Record<string, unknown>)
    : undefined;
}
