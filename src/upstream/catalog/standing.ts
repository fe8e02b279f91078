/**
 * The standing of a configured server: whether a name that is missing from its lists may still
 * appear.
 *
 * Invariant: a standing is data, set by the code that runs the server. A look-up never asks the
 * server.
 */
export type Standing =
  /** Its lists are known: a missing name does not exist. */
  | { readonly kind: "known" }
  /** Its lists are being fetched, for the first time or again after they were withdrawn. */
  | { readonly kind: "starting" }
  /** Its lists are unknown, and no fetch is under way. */
  | { readonly kind: "down"; readonly reason: string; readonly retryAt?: number | undefined }
  /** Its lists are unknown until a user has logged in. */
  | { readonly kind: "needs-login"; readonly reason: string }
  /** Configured but switched off: it has no entries, and no other server gets its names. */
  | { readonly kind: "disabled" }
  /** Its entry in the config cannot be used: its lists stay unknown. */
  | { readonly kind: "invalid"; readonly reason: string };

export const KNOWN: Standing = { kind: "known" };
export const STARTING: Standing = { kind: "starting" };
export const DISABLED: Standing = { kind: "disabled" };
