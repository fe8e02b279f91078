/**
 * A status line on stderr, rewritten in place and removed at the end. It appears only on a terminal
 * that can erase, and neither with --json nor with NO_COLOR; a pipe gets nothing.
 *
 * Invariant: one line at a time. While one spins, what is done within says nothing of its own.
 */
import { clean } from "../../../lib/text/clean.ts";
import { shorten } from "../../../lib/text/width.ts";

export interface StatusLine {
  /**
   * Shows a spinner with the current `text()` until the next call; shows nothing while it is empty.
   */
  spin(text: () => string): void;
  show(text: string): void;
  /** Prints lines above the status line. */
  above(text: string): void;
  /** Removes the line; `spin` and `show` bring it back. */
  clear(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Short waits show no line. */
const PATIENCE_FRAMES = 3;
const CLEAR = "\r\u001b[K";

/** The line that spins. */
let spinning: symbol | undefined;

/** Shows a spinner while `act` takes longer than a moment. */
export async function whileWaiting<T>(text: string, act: () => Promise<T>): Promise<T> {
  const line = createStatusLine();
  line.spin(() => text);
  try {
    return await act();
  } finally {
    line.clear();
  }
}

export function createStatusLine(stream: NodeJS.WriteStream = process.stderr): StatusLine {
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  let shown = "";
  const self = Symbol("status line");
  const isQuiet = !stream.isTTY || isPlain(process.env) || process.argv.includes("--json");

  function draw(text: string): void {
    if (isQuiet) return;
    const next = shorten(clean(text), Math.max(1, (stream.columns || 80) - 1));
    if (next === shown) return;
    shown = next;
    stream.write(CLEAR + next);
  }
  function clear(): void {
    clearInterval(timer);
    timer = undefined;
    if (spinning === self) spinning = undefined;
    draw("");
  }

  return {
    clear,
    spin(text) {
      clear();
      if (isQuiet || spinning !== undefined) return;
      spinning = self;
      frame = 0;
      timer = setInterval(() => {
        if (++frame < PATIENCE_FRAMES) return;
        const what = text();
        draw(what === "" ? "" : `${FRAMES[frame % FRAMES.length]} ${what}`);
      }, FRAME_MS);
      timer.unref();
    },
    show(text) {
      clear();
      draw(text);
    },
    above(text) {
      const before = shown;
      draw("");
      stream.write(`${text}\n`);
      draw(before);
    },
  };
}

function isPlain(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb";
}
