/**
 * An exception that nobody caught is a mistake in this program. It is logged in full; the sessions of everybody else must not end because of it.
 */
import { messageOf } from "../model/errors.ts";
import type { Logger } from "../telemetry/logger.ts";

export function outliveMistakes(log: Logger): void {
  const tell = (error: unknown): void => {
    // Whoever read our output is gone: to say so would end here again.
    if ((error as NodeJS.ErrnoException | undefined)?.code === "EPIPE") return;
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ error: messageOf(error), stack }, "An unexpected error, please report it; the gateway goes on");
  };
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
}
