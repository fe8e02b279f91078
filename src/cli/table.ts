/**
 * Tables for people: columns as wide as they need, the last one cut to the terminal. What servers
 * wrote is made harmless first. Where the output is no terminal nothing is cut.
 */
import { clean } from "../text/clean.ts";
import { pad, shorten, widthOf } from "../text/width.ts";

const GAP = "  ";
const LEAST_LAST = 20;

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: "left" | "right";
}

export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => clean(text(row))))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => widthOf(line[i]!))));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  const last = columns.length - 1;
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST_LAST, width - before);
  return cells
    .map((line) =>
      line
        .map((text, i) => {
          if (i < last || columns[i]!.align === "right") return pad(text, widths[i]!, columns[i]!.align ?? "left");
          return widthOf(text) > room ? shorten(text, room) : text;
        })
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** The first sentence or line of a description. */
export function firstLine(text: string | undefined): string {
  return (text ?? "").trim().split("\n", 1)[0]!;
}

/** The width to cut to; undefined where the output goes to a file or a program. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
