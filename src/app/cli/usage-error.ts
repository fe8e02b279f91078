/** A wrongly used command: it exits with code 2, and the message names the correct usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
