/** A client's reason for cancelling a request, cut to the length that a server receives. */

const MAX_LENGTH = 1000;

/** Returns undefined if the client gave no reason. */
export function cancelWords(reason: unknown): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason.slice(0, MAX_LENGTH) : undefined;
}
