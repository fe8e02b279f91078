/**
 * The reason that a client gives for cancelling a request, as far as a server gets it.
 */

const MAX_LENGTH = 1000;

/** Undefined: it gave none. */
export function cancelWords(reason: unknown): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason.slice(0, MAX_LENGTH) : undefined;
}
