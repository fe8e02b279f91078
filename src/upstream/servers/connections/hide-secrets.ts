/**
 * Removes a server's secrets from its connection errors. A server may quote our credentials in its
 * refusal, and clients and the log see that message.
 */
import { GoblinError } from "../../../mcp/protocol/errors.ts";

/** Wraps `connect` so that its errors never contain the secrets that `redact` hides. */
export function hidingSecrets<Args extends readonly unknown[], Result>(
  connect: (...args: Args) => Promise<Result>,
  redact: (text: string) => string,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await connect(...args);
    } catch (error) {
      if (!(error instanceof GoblinError)) throw error;
      throw new GoblinError(error.code, redact(error.message), {
        data: error.data,
        reason: error.reason,
        cause: error,
      });
    }
  };
}
