/**
 * The signals that a running gateway listens to. SIGINT and SIGTERM ask it to end; a second one
 * ends the process at once. SIGHUP asks it to read its config again, except when it says that the
 * terminal is gone.
 */
import { closeSync, openSync } from "node:fs";

export interface Signals {
  /** Resolves when the process is asked to end. */
  readonly ended: Promise<void>;
}

export function listenToSignals(hangup: () => void): Signals {
  const hadTerminal = hasTerminal();
  const ended = new Promise<void>((resolve) => {
    let asked = false;
    const end = (): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve();
    };
    process.on("SIGINT", end);
    process.on("SIGTERM", end);
    process.on("SIGHUP", () => (hadTerminal && !hasTerminal() ? end() : hangup()));
  });
  return { ended };
}

/** Ends the process even if something that was forgotten keeps it alive. */
export function exitSoon(): void {
  setTimeout(() => process.exit(), 1000).unref();
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
