/**
 * Keeps the gateway running after an uncaught exception. The exception is a bug in this program: it
 * is logged in full, but must not end other clients' sessions.
 *
 * Write errors of the log itself (the terminal is gone, the disk is full) are ignored: logging them
 * would loop forever.
 */
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";

export function surviveUncaughtErrors(log: Logger): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const tell = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ error: messageOf(error), stack }, "Unexpected error, please report it; the gateway keeps running");
  };
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
}
