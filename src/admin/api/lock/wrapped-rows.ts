/** Two texts side by side as lines of a terminal, in two columns. */
import { wrap } from "../../../lib/text/width.ts";
import type { SideBySide } from "./side-by-side.ts";

export interface Wrapping {
  /** The cells of each side. */
  readonly room: number;
  /** Makes the text of a line fit to be shown. */
  readonly shown: (line: string) => string;
}

/**
 * The rows as lines of two columns. Nothing is cut: who approves a text has seen all of it.
 * Undefined: rows that are left out.
 */
export function wrapped(rows: readonly (SideBySide | undefined)[], { room, shown }: Wrapping) {
  return rows.flatMap((row): (SideBySide | undefined)[] => {
    if (!row) return [undefined];
    const [left, right] = [row.left, row.right].map((line) => (line === undefined ? [] : wrap(shown(line), room)));
    const count = Math.max(left!.length, right!.length);
    return Array.from({ length: count }, (_, i) => ({ left: left![i], right: right![i], isSame: row.isSame }));
  });
}
