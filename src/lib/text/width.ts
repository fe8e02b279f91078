/**
 * Measures text in terminal cells, and cuts, pads and wraps it by cells.
 *
 * Invariant: `toWidth` returns exactly the requested width. Input must be clean text: without
 * control characters, every grapheme takes 0, 1 or 2 cells.
 */
const ascii = /^[\u0020-\u007e]*$/;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
const invisible = /^(?:\p{Mark}|\u200c|\u200d)+$/u;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (ascii.test(grapheme)) return grapheme.length;
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) || emoji.test(grapheme) ? 2 : 1;
}

/** Returns the longest prefix that takes at most `width` cells. */
export function take(text: string, width: number): string {
  if (width <= 0) return "";
  if (ascii.test(text)) return text.slice(0, width);
  let used = 0;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** Returns whether the text fits, without measuring more of it than necessary. */
export function fits(text: string, width: number): boolean {
  return take(text, width).length === text.length;
}

/** Shortens a text to at most `width` cells and marks a cut with an ellipsis. */
export function shorten(text: string, width: number): string {
  return fits(text, width) ? text : width < 1 ? "" : `${take(text, width - 1)}…`;
}

export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
}

export function toWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  return pad(shorten(text, width), width, align);
}

/**
 * Wraps one line at spaces, or inside a word that is longer than a line. Keeps the indent on the
 * following lines.
 */
export function wrap(text: string, width: number): string[] {
  if (fits(text, width)) return [text];
  const indent = " ".repeat(Math.min(text.length - text.trimStart().length, Math.max(0, width - 20)));
  const lines: string[] = [];
  let rest = text;
  for (let head = take(rest, width); head.length < rest.length; head = take(rest, width)) {
    // A grapheme wider than the line is taken anyway, or the loop would never end.
    const hard = head.length > 0 ? head.length : 2;
    const space = rest[hard] === " " ? hard : rest.lastIndexOf(" ", hard - 1);
    const at = space > indent.length ? space : hard;
    lines.push(rest.slice(0, at));
    rest = indent + rest.slice(at).trimStart();
  }
  if (rest.trim() !== "") lines.push(rest);
  return lines;
}
