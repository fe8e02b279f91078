/**
 * Paints frames on the terminal, changed lines only, with absolute positions and one synchronized
 * write per frame. Invariant: a frame never scrolls the screen, and unchanged lines are not
 * rewritten.
 */
import { widthOf } from "../../lib/text/width.ts";

const syncStart = "\u001b[?2026h";
const syncEnd = "\u001b[?2026l";
const reset = "\u001b[0m";
const eraseToEnd = "\u001b[K";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of a line
const sequences = /\u001b\[[0-9;]*m/g;

export interface Screen {
  /** Paints a complete frame, line by line from the top. */
  draw(lines: readonly string[]): void;
  /** Forgets the screen's content: the next frame is painted completely. */
  forget(): void;
  /** Paints the last frame again, completely. */
  repaint(): void;
  /** Ignores all later frames. */
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

  return {
    draw(lines) {
      if (closed) return;
      last = lines;
      paint(lines);
    },
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
 * Erases the cells after a line. A full line leaves the cursor on its last cell, which must not be
 * erased.
 */
function rest(line: string, columns: number): string {
  return widthOf(line.replace(sequences, "")) < columns ? eraseToEnd : "";
}
