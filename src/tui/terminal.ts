/**
 * Takes the terminal over and gives it back as it was.
 *
 * What must always hold: whatever ends the process short of SIGKILL (a key, a signal, an exception
 * nobody caught), the main screen, the cursor and line wrapping are back, and `restore` can run
 * twice.
 */
import type { Terminal } from "./screen.ts";

// Alternate screen, no line wrapping, bracketed paste, cursor hidden; and the reverse, with the
// attributes reset.
const enterSequence = "\u001b[?1049h\u001b[?7l\u001b[?2004h\u001b[?25l\u001b[2J\u001b[H";
const leaveSequence = "\u001b[0m\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";

export interface Takeover {
  restore(): void;
}

export interface TakeoverOptions {
  readonly terminal: Terminal;
  /** An exception that nobody caught; the terminal is restored by then. */
  readonly onCrash: (error: unknown) => void;
  /** A signal that ends programs, as an exit code; the terminal is restored by then. */
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
  // Not at once: Ink listens too, and kills the process if it finds itself to be the only listener
  // that is left.
  const onSignal = (signal: NodeJS.Signals): void => {
    setImmediate(() => {
      restore();
      onSignalled(128 + signals[signal as keyof typeof signals]);
    });
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

/** Puts a text on the clipboard of the person's terminal, also over ssh (OSC 52). */
export function copyToClipboard(terminal: Terminal, text: string): void {
  terminal.write(`\u001b]52;c;${Buffer.from(text, "utf8").toString("base64")}\u0007`);
}
