/**
 * Prints tables for people. The last column is cut to the terminal's width; without a terminal
 * nothing is cut. Text from servers is sanitized first.
 */
import { clean } from "../../../lib/text/clean.ts";
import { pad, shorten, widthOf } from "../../../lib/text/width.ts";
import { type Colour, type Paint, painter } from "./paint.ts";
import { safeJson } from "./safe-json.ts";

const GAP = "  ";
const MIN_LAST_WIDTH = 20;

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: "left" | "right";
  readonly colour?: (row: Row) => Colour | undefined;
}

export interface Look {
  /** The width to cut to; undefined: no cut. */
  readonly width?: number | undefined;
  readonly paint?: Paint;
}

const unpainted: Paint = (_colour, text) => text;

export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], look: Look = {}): string {
  const { width, paint = unpainted } = look;
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => clean(text(row))))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => widthOf(line[i]!))));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  const last = columns.length - 1;
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(MIN_LAST_WIDTH, width - before);
  const colourOf = (line: number, i: number): Colour | undefined =>
    line === 0 ? "bold" : columns[i]!.colour?.(rows[line - 1]!);
  const fitted = (text: string, i: number): string => {
    if (i < last || columns[i]!.align === "right") return pad(text, widths[i]!, columns[i]!.align ?? "left");
    return widthOf(text) > room ? shorten(text, room) : text;
  };
  return cells
    .map((line, n) => {
      const shown = line.map((text, i) => fitted(text, i));
      // Trims the line's end before painting: colour codes would hide trailing spaces.
      while (shown.length > 0 && shown.at(-1)!.trimEnd() === "") shown.pop();
      if (shown.length > 0) shown.push(shown.pop()!.trimEnd());
      return shown.map((text, i) => paint(colourOf(n, i), text)).join(GAP);
    })
    .join("\n");
}

/** Prints a table: cut and coloured on a terminal, complete and plain elsewhere. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  console.log(formatTable(rows, columns, { width, paint: painter(process.stdout) }));
}

/** Adds a column with each row's replica, if there are any, before the last column. */
export function withReplica<Row extends { readonly replica?: string | undefined }>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): readonly Column<Row>[] {
  if (rows.every(({ replica }) => replica === undefined)) return columns;
  return columns.toSpliced(-1, 0, { title: "REPLICA", text: ({ replica }) => replica ?? "–" });
}

/** Returns the first line of a description. */
export function firstLine(text: string | undefined): string {
  return (text ?? "").trim().split("\n", 1)[0]!;
}

export function printJson(value: unknown): void {
  console.log(safeJson(value, 2));
}
