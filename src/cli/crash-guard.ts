/**
 * An exception that nobody caught is a mistake in this program. It is logged in full; the sessions
 * of everybody else must not end because of it.
 *
 * A log that cannot be written (the terminal is gone, the disk is full) is none: to log that would
 * end here again, for ever.
 */
import { messageOf } from "../protocol/errors.ts";
import type { Logger } from "../telemetry/logger.ts";

export function surviveUncaughtErrors(log: Logger): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const tell = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ error: messageOf(error), stack }, "An unexpected error, please report it; the gateway goes on");
  };
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
}
