/**
 * A screen line as data: spans of text, each with a tone.
 *
 * Views build lines with these functions, and text/paint.ts prints them. Invariant: the text of a
 * span is sanitized, because only this file creates spans, and nothing else reaches the screen.
 */
import { clean } from "../../../lib/text/clean.ts";
import { fits, shorten, take, toWidth, widthOf } from "../../../lib/text/width.ts";

export type Tone =
  | ("plain" | "title" | "accent" | "good" | "warn" | "bad" | "quiet" | "match" | "selected" | "alarm")
  | ("key" | "string" | "number" | "literal");

export interface Span {
  readonly text: string;
  readonly tone: Tone;
  /** Part of the selected row's bar, which keeps the emphasis of its tone but not the colour. */
  readonly bar?: true;
}
export type Line = readonly Span[];

export function span(text: string, tone: Tone = "plain"): Span {
  return { text: clean(text), tone };
}

/** Returns a line in one tone. */
export function line(text: string, tone: Tone = "plain"): Line {
  return [span(text, tone)];
}

export interface CellOptions {
  readonly tone?: Tone;
  readonly align?: "left" | "right";
  /** Cuts a long text in the middle: both ends tell it apart from others. */
  readonly middle?: boolean;
  /** Search terms in lower case. Their matches get the tone `match` and stay visible. */
  readonly terms?: readonly string[];
}

/** Returns a column's cell, exactly `width` cells wide. */
export function cell(text: string, width: number, options: CellOptions = {}): Span[] {
  if (width <= 0) return [];
  const { tone = "plain", align = "left", terms = [], middle = false } = options;
  if (middle && terms.length === 0) return [{ text: toWidth(cutMiddle(clean(text), width), width, align), tone }];
  // A log line can be a megabyte, so only the visible part is processed.
  if (terms.length === 0) return [{ text: toWidth(clean(text.slice(0, width * 8)), width, align), tone }];
  const shown = toWidth(keepMatchInSight(clean(text), width, terms), width, align);
  return marked(shown, terms, tone);
}

/** Shortens a text to at most `width` cells: the beginning, an ellipsis and the end. */
export function cutMiddle(text: string, width: number): string {
  if (fits(text, width)) return text;
  if (width < 5) return shorten(text, width);
  const head = take(text, Math.floor((width - 1) / 3));
  const room = width - 1 - widthOf(head);
  let tail = text.slice(-room);
  while (widthOf(tail) > room) tail = tail.slice(1);
  return `${head}…${tail.replace(/^[\udc00-\udfff]/, "")}`;
}

/** Makes a line the selected row: padded to the width, so that its bar is unbroken. */
export function asBar(spans: Line, width: number): Line {
  return fitLine(spans, width).map((part) => ({ ...part, bar: true as const }));
}

/** Puts lines side by side: each block is padded to its width. */
export function beside(blocks: readonly { readonly lines: readonly Line[]; readonly width: number }[]): Line[] {
  const height = Math.max(...blocks.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    blocks.flatMap(({ lines, width }, index) => fitLine(lines[row] ?? [], width, index < blocks.length - 1)),
  );
}

/** Splits a text at the search terms. */
export function marked(text: string, terms: readonly string[], tone: Tone = "plain"): Span[] {
  const safe = clean(text);
  const spans: Span[] = [];
  let from = 0;
  for (const [start, end] of matches(safe, terms)) {
    if (start > from) spans.push({ text: safe.slice(from, start), tone });
    spans.push({ text: safe.slice(start, end), tone: "match" });
    from = end;
  }
  if (from < safe.length || spans.length === 0) spans.push({ text: safe.slice(from), tone });
  return spans;
}

/** Cuts a line to a width, and pads it if `fill` is set. */
export function fitLine(spans: Line, width: number, fill = true): Line {
  const out: Span[] = [];
  let left = width;
  for (const part of spans) {
    const size = widthOf(part.text);
    if (size > left) {
      out.push({ text: toWidth(shorten(part.text, left), left), tone: part.tone });
      return out;
    }
    out.push(part);
    left -= size;
  }
  if (fill && left > 0) out.push({ text: " ".repeat(left), tone: "plain" });
  return out;
}

export function lineWidth(spans: Line): number {
  return spans.reduce((sum, part) => sum + widthOf(part.text), 0);
}

/** Puts `left` at the left edge and `right` at the right edge; the right side is cut first. */
export function spread(left: Line, right: Line, width: number): Line {
  const gap = width - lineWidth(left) - lineWidth(right);
  return gap < 1 ? fitLine(left, width) : [...left, { text: " ".repeat(gap), tone: "plain" }, ...right];
}

function matches(text: string, terms: readonly string[]): [number, number][] {
  const lower = fold(text);
  const found: [number, number][] = [];
  for (const term of terms) {
    for (let at = lower.indexOf(term); at >= 0 && term !== ""; at = lower.indexOf(term, at + term.length)) {
      found.push([at, at + term.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [start, end] of found) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function keepMatchInSight(text: string, width: number, terms: readonly string[]): string {
  if (fits(text, width)) return text;
  const first = matches(text, terms)[0];
  if (first === undefined || widthOf(text.slice(0, first[1])) < width) return text;
  const behind = take(text.slice(first[1]), Math.max(1, Math.floor(width / 4)));
  const shown = text.slice(0, first[1]) + behind;
  // Descriptions can be long, so only the part just before the match is measured.
  let from = Math.max(0, first[0] - 2 * width);
  while (from < first[0] && widthOf(shown.slice(from)) > width - 2) from += 1;
  return `…${text.slice(from)}`;
}

/** Lowers the case without changing the length, so that positions stay valid. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}
