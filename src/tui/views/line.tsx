/**
 * Prints lines: the only place that maps a tone to a colour.
 *
 * Invariant: `NO_COLOR` removes colours, not emphasis. Everything on the screen passes through
 * here. A line that did not change is not printed again.
 */
import { Text, type TextProps } from "ink";
import { memo } from "react";
import { fitLine, type Line, type Span, type Tone } from "../text/line.ts";

const colourless = Boolean(process.env.NO_COLOR);

const styles: Record<Tone, Omit<TextProps, "children">> = {
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

function styleOf({ tone, bar }: Span): Omit<TextProps, "children"> {
  const style = styles[tone];
  if (!colourless && !bar) return style;
  const { color: _color, backgroundColor: _background, dimColor: _dim, ...emphasis } = style;
  if (colourless) return tone === "match" || tone === "alarm" || bar ? { ...emphasis, inverse: true } : emphasis;
  // Colours clash with the inverted selected row; matches stay visible.
  return tone === "match" ? style : { ...emphasis, inverse: true };
}

/** Renders one row of at most `width` cells. */
export const Row = memo(function Row({ line, width }: { line: Line; width: number }) {
  const parts = fitLine(line, width, false);
  // An empty text has no height, and everything below it would move up.
  const blank = parts.every((part) => part.text === "");
  return (
    <Text wrap="truncate">
      {blank && " "}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity but their place
        <Text key={index} {...styleOf(part)}>
          {part.text}
        </Text>
      ))}
    </Text>
  );
}, sameRow);

function sameRow(a: { line: Line; width: number }, b: { line: Line; width: number }): boolean {
  return a.width === b.width && sameLine(a.line, b.line);
}

export function sameLine(a: Line, b: Line): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((part, index) => {
    const other = b[index];
    return part.text === other?.text && part.tone === other.tone && part.bar === other.bar;
  });
}
