/**
 * Turns a line into the text that a terminal shows: the only place that maps a tone to a color.
 *
 * Colors are those of the terminal's own palette where they are readable on either background. The
 * theme `plain` removes colors, not emphasis.
 */
import type { Theme } from "../state/theme.ts";
import { fitLine, type Line, type Span, type Tone } from "./line.ts";

interface Style {
  readonly bold?: true;
  readonly dim?: true;
  readonly underline?: true;
  readonly inverse?: true;
  /** A number of the terminal's palette. */
  readonly color?: number;
  readonly background?: number;
}

const BLACK = 0;
const RED = 1;
const GREEN = 2;
const YELLOW = 3;
const BLUE = 4;
const MAGENTA = 5;
const CYAN = 6;
const WHITE = 7;

const dark: Record<Tone, Style> = {
  plain: {},
  title: { bold: true },
  accent: { bold: true, color: CYAN },
  good: { color: GREEN },
  warn: { color: YELLOW },
  bad: { color: RED, bold: true },
  quiet: { dim: true },
  match: { bold: true, underline: true, color: BLACK, background: YELLOW },
  selected: { inverse: true },
  alarm: { bold: true, color: WHITE, background: RED },
  key: { color: BLUE },
  string: { color: GREEN },
  number: { color: CYAN },
  literal: { color: MAGENTA },
};

/** Cyan and yellow are unreadable on white, and dimmed black is gray enough only as a color. */
const light: Record<Tone, Style> = {
  ...dark,
  accent: { bold: true, color: BLUE },
  good: { color: 28 },
  warn: { color: 130 },
  quiet: { color: 242 },
  string: { color: 28 },
  number: { color: 25 },
};

export function styleOf({ tone, bar }: Span, theme: Theme): Style {
  const style = (theme === "light" ? light : dark)[tone];
  if (theme !== "plain" && !bar) return style;
  const { color: _color, background: _background, dim: _dim, ...emphasis } = style;
  if (theme === "plain") return tone === "match" || tone === "alarm" || bar ? { ...emphasis, inverse: true } : emphasis;
  // Colors clash with the inverted selected row; matches stay visible.
  return tone === "match" ? style : { ...emphasis, inverse: true };
}

/** Returns at most `width` cells. */
export function paintLine(line: Line, width: number, theme: Theme): string {
  return fitLine(line, width, false)
    .map((part) => paintSpan(part.text, styleOf(part, theme)))
    .join("");
}

function paintSpan(text: string, { bold, dim, underline, inverse, color, background }: Style): string {
  const codes: (number | string)[] = [];
  if (bold) codes.push(1);
  if (dim) codes.push(2);
  if (underline) codes.push(4);
  if (inverse) codes.push(7);
  if (color !== undefined) codes.push(color < 8 ? 30 + color : `38;5;${color}`);
  if (background !== undefined) codes.push(40 + background);
  return codes.length === 0 || text === "" ? text : `\u001b[${codes.join(";")}m${text}\u001b[0m`;
}
