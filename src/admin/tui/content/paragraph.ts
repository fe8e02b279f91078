/**
 * Building blocks of the details panel: facts in two columns, wrapped text, JSON, headings.
 *
 * Invariant: every line fits the width, and search terms are marked everywhere.
 */
import { cleanLines } from "../../../lib/text/clean.ts";
import { pad, wrap } from "../../../lib/text/width.ts";
import { type Line, line, marked, span, type Tone } from "../text/line.ts";
import { jsonLines } from "./json-lines.ts";

export interface Page {
  readonly width: number;
  readonly terms: readonly string[];
}

export type Fact = readonly [label: string, value: string | undefined, tone?: Tone];

const labelWidth = 12;

/** Formats facts; those without a value are omitted. */
export function facts(page: Page, rows: readonly Fact[]): Line[] {
  return rows.flatMap(([label, value, tone = "plain"]) => {
    if (value === undefined || value === "") return [];
    const lines = cleanLines(value).flatMap((text) => wrap(text, page.width - labelWidth));
    return lines.map((text, index) => [
      span(pad(index === 0 ? label : "", labelWidth), "quiet"),
      ...marked(text, page.terms, tone),
    ]);
  });
}

export function paragraph(
  page: Page,
  text: string,
  { indent = 0, tone = "plain" }: { indent?: number; tone?: Tone } = {},
): Line[] {
  const space = " ".repeat(indent);
  return cleanLines(text)
    .flatMap((one) => wrap(one, page.width - indent))
    .map((one) => [span(space), ...marked(one, page.terms, tone)]);
}

export function heading(text: string): Line[] {
  return [line(""), line(text, "accent")];
}

/** JSON in colours; while something is searched, as text in which the matches are marked. */
export function json(page: Page, value: unknown): Line[] {
  if (page.terms.length > 0) return paragraph(page, JSON.stringify(value, null, 2) ?? "", { indent: 1 });
  return jsonLines(value, "", { width: page.width - 1, folded: new Set() }).map((one) => [span(" "), ...one.line]);
}
