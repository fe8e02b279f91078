// @ts-check
// How results are shown: aligned text for people, Markdown for the documentation. A table's first
// column is left-aligned, the others are numbers, kept as measured for the JSON form and rounded
// here.

/**
 * @typedef {{ title: string, columns: string[], rows: (string | number)[][], notes?: string[] }}
 *   Table
 */
/** @typedef {{ name: string, value: number, most?: number, least?: number, unit?: string }} Bar */

/** A count. @param {number} value */
export const whole = (value) => Math.round(value).toLocaleString("en").replaceAll(",", " ");

/** A measurement, to three digits or so. @param {number} value */
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1000) return whole(value);
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/** @param {string[][]} rows @param {(cell: string, width: number, column: number) => string} pad */
function aligned(rows, pad) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => pad(cell, widths[column] ?? 0, column)));
}

/** @param {string} cell @param {number} width @param {number} column */
const pad = (cell, width, column) => (column === 0 ? cell.padEnd(width) : cell.padStart(width));

/** @param {Table["rows"]} rows @returns {string[][]} */
const rounded = (rows) => rows.map((row) => row.map((cell) => (typeof cell === "number" ? number(cell) : cell)));

/** @param {Table} table */
export function asText({ title, columns, rows, notes = [] }) {
  const lines = aligned([columns, ...rounded(rows)], pad).map((row) => `  ${row.join("   ")}`.trimEnd());
  const [head = "", ...body] = lines;
  return [
    title,
    head,
    `  ${"─".repeat(Math.max(...lines.map((line) => line.length)) - 2)}`,
    ...body,
    ...notes.map((note) => `  ${note}`),
    "",
  ].join("\n");
}

/** @param {Table} table */
export function asMarkdown({ title, columns, rows, notes = [] }) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = line(columns.map((_, column) => (column === 0 ? "---" : "---:")));
  const below = notes.length === 0 ? [] : ["", ...notes.map((note) => `- ${note}`)];
  return [`### ${title}`, "", line(columns), rule, ...rounded(rows).map(line), ...below, ""].join("\n");
}

/** @param {Bar[]} bars @returns {Table} */
export function barTable(bars) {
  return {
    title: "Bars",
    columns: ["what", "measured", "bar", "met"],
    rows: bars.map(({ name, value, most, least, unit = "" }) => [
      name,
      `${number(value)}${unit}`,
      most === undefined ? `≥ ${least}${unit}` : `≤ ${most}${unit}`,
      isMet({ value, most, least }) ? "yes" : "no",
    ]),
  };
}

/** @param {{ value: number, most?: number | undefined, least?: number | undefined }} bar */
export const isMet = ({ value, most = Infinity, least = -Infinity }) => value <= most && value >= least;
