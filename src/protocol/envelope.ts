/**
 * The keys that a request of 2026-07-28 carries in its `_meta` in place of a handshake, and that
 * its results carry back. Only the files that translate between the eras use them.
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

/** Versions are dates; every one from this on is of that kind. */
export function isStateless(version: string): boolean {
  return version >= "2026-07-28";
}

export type Era = "legacy" | "modern";

/** Which kind of protocol a version is of. */
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
