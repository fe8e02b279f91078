/**
 * Keeps a server's secrets out of the reason why it cannot be used: a server may quote in its
 * refusal what it was given, and that reason is told to clients and to the log.
 */
import { GoblinError } from "../protocol/errors.ts";
import { createRedactor } from "../text/redact.ts";

/** The same function, whose errors do not contain the secrets. */
export function hidingSecrets<Args extends readonly unknown[], Result>(
  connect: (...args: Args) => Promise<Result>,
  secrets: readonly string[],
): (...args: Args) => Promise<Result> {
  const redact = createRedactor(secrets);
  return async (...args) => {
    try {
      return await connect(...args);
    } catch (error) {
      if (!(error instanceof GoblinError)) throw error;
      throw new GoblinError(error.code, redact(error.message), {
        ...(error.data && { data: error.data }),
        cause: error,
      });
    }
  };
}
