/**
 * A status line on stderr, rewritten in place and removed at the end. It appears only on a
 * terminal; a pipe gets nothing.
 */
import { clean } from "../../text/clean.ts";
import { shorten } from "../../text/width.ts";

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

export function createStatusLine(stream: NodeJS.WriteStream = process.stderr): StatusLine {
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  let shown = "";

  function draw(text: string): void {
    if (!stream.isTTY) return;
    const next = shorten(clean(text), Math.max(1, (stream.columns || 80) - 1));
    if (next === shown) return;
    shown = next;
    stream.write(CLEAR + next);
  }
  function clear(): void {
    clearInterval(timer);
    timer = undefined;
    draw("");
  }

  return {
    clear,
    spin(text) {
      clear();
      if (!stream.isTTY) return;
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
