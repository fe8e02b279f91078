/**
 * Paints frames on the terminal, changed lines only.
 *
 * Ink's own writer clears the whole terminal, scroll-back included, whenever a frame is as high as
 * the screen; so Ink is given a stand-in stream, runs in the mode that writes complete frames, and
 * this paints them: absolute positions, one synchronized write for each frame. What must always
 * hold: a frame never scrolls the screen, and a line that did not change is not touched.
 */
import { EventEmitter } from "node:events";
import { widthOf } from "../text/width.ts";

const syncStart = "\u001b[?2026h";
const syncEnd = "\u001b[?2026l";
const reset = "\u001b[0m";
const eraseToEnd = "\u001b[K";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that Ink wrote
const sequences = /\u001b\[[0-9;]*m/g;

export interface Screen {
  /** What Ink takes for standard output. */
  readonly stream: NodeJS.WriteStream;
  /** Forgets what is on the terminal: the next frame is painted whole. */
  forget(): void;
  /** Paints the last frame again, whole. */
  repaint(): void;
  /** Ignores every later frame. */
  close(): void;
}

export interface Terminal {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

export function createScreen(terminal: Terminal): Screen {
  let painted: readonly string[] | undefined;
  let last: readonly string[] = [];
  let closed = false;

  const paint = (lines: readonly string[]): void => {
    const rows = terminal.rows || 24;
    const shown = lines.slice(0, rows);
    const height = Math.max(shown.length, Math.min(painted?.length ?? 0, rows));
    const parts: string[] = painted === undefined ? [`${reset}\u001b[2J`] : [];
    for (let row = 0; row < height; row += 1) {
      const line = shown[row] ?? "";
      if (painted === undefined ? line !== "" : line !== painted[row]) {
        parts.push(`\u001b[${row + 1};1H${line}${reset}${rest(line, terminal.columns || 80)}`);
      }
    }
    painted = shown;
    if (parts.length > 0) terminal.write(syncStart + parts.join("") + syncEnd);
  };

  const stream = Object.assign(new EventEmitter(), {
    isTTY: false,
    write(frame: string | Uint8Array): boolean {
      if (closed || typeof frame !== "string" || frame === "") return true;
      last = frame.split("\n");
      paint(last);
      return true;
    },
  });
  // Getters, because the terminal's size changes.
  Object.defineProperties(stream, {
    columns: { get: () => terminal.columns || 80 },
    rows: { get: () => terminal.rows || 24 },
  });
  return {
    // Ink uses `write`, `columns`, `rows` and `on`/`off` of it, nothing else.
    stream: stream as unknown as NodeJS.WriteStream,
    forget() {
      painted = undefined;
    },
    repaint() {
      painted = undefined;
      if (!closed && last.length > 0) paint(last);
    },
    close() {
      closed = true;
    },
  };
}

/**
 * Erases what is right of a line. A full line leaves the cursor on its last cell, which must not be
 * erased.
 */
function rest(line: string, columns: number): string {
  return widthOf(line.replace(sequences, "")) < columns ? eraseToEnd : "";
}
