/**
 * Draws JSON as a tree in colours, whose objects and arrays fold.
 *
 * Invariant: every line fits the width. A folded value takes one line, which says how much it
 * hides.
 */
import { clean } from "../../../lib/text/clean.ts";
import { take, widthOf } from "../../../lib/text/width.ts";
import { type Line, type Span, span, type Tone } from "../text/line.ts";

export interface TreeLine {
  readonly line: Line;
  /** The path of the object or array that begins here and can be folded. */
  readonly fold?: string;
}

interface Page {
  readonly width: number;
  readonly folded: ReadonlySet<string>;
}

/** More lines than this of one value are never drawn. */
const mostLines = 20_000;

export function jsonLines(value: unknown, path: string, page: Page): TreeLine[] {
  const lines: TreeLine[] = [];
  draw({ value, path, depth: 0, label: [], comma: "" }, page, lines);
  return lines;
}

interface Node {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  readonly label: readonly Span[];
  readonly comma: string;
}

function draw({ value, path, depth, label, comma }: Node, page: Page, lines: TreeLine[]): void {
  if (lines.length > mostLines) return;
  const indent = span("  ".repeat(depth));
  const entries = entriesOf(value);
  if (entries === undefined) {
    for (const line of scalar(value, [indent, ...label], { comma, width: page.width })) lines.push({ line });
    return;
  }
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    lines.push({ line: [indent, ...label, span(`${open}${close}${comma}`)] });
    return;
  }
  if (page.folded.has(path)) {
    const noun = Array.isArray(value) ? "item" : "key";
    const hidden = span(` ${entries.length} ${noun}${entries.length === 1 ? "" : "s"}`, "quiet");
    lines.push({
      line: [indent, ...label, span("▸ ", "accent"), span(`${open}…${close}${comma}`), hidden],
      fold: path,
    });
    return;
  }
  lines.push({ line: [indent, ...label, span(open)], fold: path });
  entries.forEach(([key, element], index) => {
    const name = Array.isArray(value) ? [] : [span(JSON.stringify(key), "key"), span(": ")];
    const rest = index < entries.length - 1 ? "," : "";
    draw({ value: element, path: `${path}/${key}`, depth: depth + 1, label: name, comma: rest }, page, lines);
  });
  lines.push({ line: [indent, span(`${close}${comma}`)] });
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

/** A long text goes on below its beginning. */
function scalar(value: unknown, head: readonly Span[], { comma, width }: { comma: string; width: number }): Line[] {
  const tone: Tone = typeof value === "string" ? "string" : typeof value === "number" ? "number" : "literal";
  const used = head.reduce((sum, part) => sum + widthOf(part.text), 0);
  let rest = clean(JSON.stringify(value) ?? "null") + comma;
  const first = take(rest, Math.max(8, width - used));
  const lines: Line[] = [[...head, span(first, tone)]];
  rest = rest.slice(first.length);
  const indent = " ".repeat(Math.min(used, Math.floor(width / 2)));
  while (rest !== "" && lines.length < 500) {
    const part = take(rest, Math.max(8, width - indent.length)) || rest.slice(0, 2);
    lines.push([span(indent), span(part, tone)]);
    rest = rest.slice(part.length);
  }
  return lines;
}

/** The paths to fold at first: what lies deep in a large value. */
export function deepPaths(value: unknown, path: string, { from, size }: { from: number; size: number }): string[] {
  if ((JSON.stringify(value) ?? "").length < size) return [];
  const found: string[] = [];
  const visit = (node: unknown, at: string, depth: number): void => {
    const entries = entriesOf(node);
    if (entries === undefined || entries.length === 0 || found.length > 5000) return;
    if (depth >= from) found.push(at);
    else for (const [key, element] of entries) visit(element, `${at}/${key}`, depth + 1);
  };
  visit(value, path, 0);
  return found;
}

/** Every path that can be folded. */
export function allPaths(value: unknown, path: string): string[] {
  const entries = entriesOf(value);
  if (entries === undefined || entries.length === 0) return [];
  return [path, ...entries.flatMap(([key, element]) => allPaths(element, `${path}/${key}`))];
}
