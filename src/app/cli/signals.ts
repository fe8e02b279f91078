/**
 * Handles the signals of a running gateway. SIGINT and SIGTERM stop it; a second one exits at once.
 * SIGHUP reloads the config, unless it means that the terminal is gone. On Windows it means that
 * the console window closes, and little time is left.
 */
import { closeSync, openSync } from "node:fs";

export interface Signals {
  /** Resolves when a signal asks the process to stop. */
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
    if (process.platform === "win32") process.on("SIGBREAK", end);
    process.on("SIGHUP", () => (isEnd({ hadTerminal, hasTerminal }) ? end() : hangup()));
  });
  return { ended };
}

export interface Hangup {
  readonly hadTerminal: boolean;
  readonly hasTerminal: () => boolean;
  readonly platform?: NodeJS.Platform;
}

/** Returns whether a hangup means that the process must stop. */
export function isEnd({ hadTerminal, hasTerminal, platform = process.platform }: Hangup): boolean {
  return platform === "win32" || (hadTerminal && !hasTerminal());
}

/** Exits even if a forgotten handle keeps the process alive. */
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
