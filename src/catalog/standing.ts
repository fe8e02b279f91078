/**
 * How a configured server stands to its lists: whether a name of its that is not there may still
 * come.
 *
 * What must always hold: it is data, told by whoever runs the server; nobody who looks up a name
 * asks the server itself.
 */
export type Standing =
  /** Its lists are known: what is not in them does not exist. */
  | { readonly kind: "known" }
  /** Its lists are being fetched for the first time, or anew after they were withdrawn. */
  | { readonly kind: "starting" }
  /** Its lists are not known and nobody fetches them now. */
  | { readonly kind: "down"; readonly reason: string; readonly retryAt?: number | undefined }
  /** Configured, but not to be used: nothing of it exists, and nothing else has its names. */
  | { readonly kind: "disabled" };

export const KNOWN: Standing = { kind: "known" };
export const STARTING: Standing = { kind: "starting" };
export const DISABLED: Standing = { kind: "disabled" };
