/**
 * Takes over the terminal and restores it.
 *
 * Invariant: unless SIGKILL ends the process, the main screen, the cursor and line wrapping are
 * restored after a key, a signal or an uncaught exception. `restore` can run twice.
 */
import { mouseOff, mouseOn } from "./mouse.ts";
import type { Terminal } from "./screen.ts";

// Enters the alternate screen without line wrapping, with bracketed paste, the mouse and a hidden
// cursor; the second sequence reverts that and resets the attributes.
const enterSequence = `\u001b[?1049h\u001b[?7l\u001b[?2004h${mouseOn}\u001b[?25l\u001b[2J\u001b[H`;
const leaveSequence = `${mouseOff}\u001b[0m\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l`;

export interface Takeover {
  restore(): void;
}

export interface TakeoverOptions {
  readonly terminal: Terminal;
  /** Called for an uncaught exception, after the terminal is restored. */
  readonly onCrash: (error: unknown) => void;
  /** Called with the exit code of a termination signal, after the terminal is restored. */
  readonly onSignalled: (code: number) => void;
}

const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

export function takeOver({ terminal, onCrash, onSignalled }: TakeoverOptions): Takeover {
  let taken = true;
  const onExit = (): void => restore();
  const onError = (error: unknown): void => {
    restore();
    onCrash(error);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    restore();
    onSignalled(128 + signals[signal as keyof typeof signals]);
  };
  function restore(): void {
    if (!taken) return;
    taken = false;
    process.off("exit", onExit);
    process.off("uncaughtException", onError);
    process.off("unhandledRejection", onError);
    for (const signal of Object.keys(signals)) process.off(signal, onSignal);
    terminal.write(leaveSequence);
  }
  process.on("exit", onExit);
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  for (const signal of Object.keys(signals)) process.on(signal, onSignal);
  terminal.write(enterSequence);
  return { restore };
}

/** Copies a text to the clipboard of the user's terminal, even over ssh (OSC 52). */
export function copyToClipboard(terminal: Terminal, text: string): void {
  terminal.write(`\u001b]52;c;${Buffer.from(text, "utf8").toString("base64")}\u0007`);
}
