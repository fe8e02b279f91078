/**
 * Prints lines: the only place that maps a tone to a colour.
 *
 * Colours are those of the terminal's own palette where they can be read on either background.
 * Invariant: the theme `plain` removes colours, not emphasis. Everything on the screen passes
 * through here. A line that did not change is not printed again.
 */
import { Text, type TextProps } from "ink";
import { memo } from "react";
import type { Theme } from "../state/theme.ts";
import { fitLine, type Line, type Span, type Tone } from "../text/line.ts";

type Style = Omit<TextProps, "children">;

const dark: Record<Tone, Style> = {
  plain: {},
  title: { bold: true },
  accent: { bold: true, color: "cyan" },
  good: { color: "green" },
  warn: { color: "yellow" },
  bad: { color: "red", bold: true },
  quiet: { dimColor: true },
  match: { bold: true, underline: true, color: "black", backgroundColor: "yellow" },
  selected: { inverse: true },
  alarm: { bold: true, color: "white", backgroundColor: "red" },
  key: { color: "blue" },
  string: { color: "green" },
  number: { color: "cyan" },
  literal: { color: "magenta" },
};

/** Cyan and yellow cannot be read on white, and dimmed black is grey enough only as a colour. */
const light: Record<Tone, Style> = {
  ...dark,
  accent: { bold: true, color: "blue" },
  good: { color: "ansi256(28)" },
  warn: { color: "ansi256(130)" },
  quiet: { color: "ansi256(242)" },
  string: { color: "ansi256(28)" },
  number: { color: "ansi256(25)" },
};

export function styleOf({ tone, bar }: Span, theme: Theme): Style {
  const style = (theme === "light" ? light : dark)[tone];
  if (theme !== "plain" && !bar) return style;
  const { color: _color, backgroundColor: _background, dimColor: _dim, ...emphasis } = style;
  if (theme === "plain") return tone === "match" || tone === "alarm" || bar ? { ...emphasis, inverse: true } : emphasis;
  // Colours clash with the inverted selected row; matches stay visible.
  return tone === "match" ? style : { ...emphasis, inverse: true };
}

interface RowProps {
  readonly line: Line;
  readonly width: number;
  readonly theme: Theme;
}

/** Renders one row of at most `width` cells. */
export const Row = memo(function Row({ line, width, theme }: RowProps) {
  const parts = fitLine(line, width, false);
  // An empty text has no height, and everything below it would move up.
  const blank = parts.every((part) => part.text === "");
  return (
    <Text wrap="truncate">
      {blank && " "}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity but their place
        <Text key={index} {...styleOf(part, theme)}>
          {part.text}
        </Text>
      ))}
    </Text>
  );
}, sameRow);

function sameRow(a: RowProps, b: RowProps): boolean {
  return a.width === b.width && a.theme === b.theme && sameLine(a.line, b.line);
}

export function sameLine(a: Line, b: Line): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((part, index) => {
    const other = b[index];
    return part.text === other?.text && part.tone === other.tone && part.bar === other.bar;
  });
}
