/**
 * A command that was called wrongly: it ends with exit code 2, and its message says what would be
 * right.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
