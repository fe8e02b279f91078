/**
 * The `_meta` keys that a 2026-07-28 request carries in place of a handshake, and that its results
 * carry back. Only the files that translate between the eras use them.
 */
import { isRecord, recordOf } from "../../lib/structures/record.ts";

export const META_PREFIX = "io.modelcontextprotocol/";
export const PROTOCOL_VERSION = `${META_PREFIX}protocolVersion`;
export const CLIENT_CAPABILITIES = `${META_PREFIX}clientCapabilities`;
export const CLIENT_INFO = `${META_PREFIX}clientInfo`;
export const LOG_LEVEL = `${META_PREFIX}logLevel`;
export const SERVER_INFO = `${META_PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${META_PREFIX}subscriptionId`;
/** The name of the extension for tasks. */
export const TASKS = `${META_PREFIX}tasks`;

export type Era = "legacy" | "modern";

/** The versions with a handshake, newest first. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** The versions without one, newest first. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Versions are dates; every one from the first without a handshake on is modern. */
export function eraOf(version: string): Era {
  return version >= "2026-07-28" ? "modern" : "legacy";
}

/** Whether a client of this version knows links to resources in the results of tools. */
export function knowsLinks(version: string): boolean {
  return version >= "2025-06-18";
}

/** Whether a client of this version may ask for a task in the request itself. */
export function knowsTasks(version: string): boolean {
  return version >= "2025-11-25";
}

export function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  const meta = recordOf(params)["_meta"];
  return isRecord(meta) ? meta : undefined;
}
