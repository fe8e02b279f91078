/**
 * Prints lines: the only place that maps a tone to a colour.
 *
 * Invariant: `NO_COLOR` removes colours, not emphasis. Everything on the screen passes through
 * here.
 */
import { Box, Text, type TextProps } from "ink";
import { memo } from "react";
import { fitLine, type Line, type Tone } from "../text/line.ts";

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
};

function styleOf(tone: Tone, selected: boolean): Omit<TextProps, "children"> {
  const style = styles[tone];
  if (!colourless && !selected) return style;
  const { color: _color, backgroundColor: _background, dimColor: _dim, ...emphasis } = style;
  if (colourless) return tone === "match" || tone === "alarm" || selected ? { ...emphasis, inverse: true } : emphasis;
  // Colours clash with the inverted selected row; matches stay visible.
  return tone === "match" ? style : { ...emphasis, inverse: true };
}

/**
 * Renders one row of at most `width` cells; a selected row is padded, so that its bar is unbroken.
 */
export const Row = memo(function Row({
  line,
  width,
  selected = false,
}: {
  line: Line;
  width: number;
  selected?: boolean;
}) {
  const parts = fitLine(line, width, selected);
  // An empty text has no height, and everything below it would move up.
  const blank = parts.every((part) => part.text === "");
  return (
    <Text wrap="truncate">
      {blank && " "}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity but their place
        <Text key={index} {...styleOf(part.tone, selected)}>
          {part.text}
        </Text>
      ))}
    </Text>
  );
});

/** Renders a block of rows, cut or padded to `height`. */
export function Rows({
  lines,
  width,
  height,
  top = 0,
}: {
  lines: readonly Line[];
  width: number;
  height: number;
  top?: number;
}) {
  return (
    <Box flexDirection="column" width={width} height={height}>
      {lines.slice(top, top + height).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
        <Row key={index} line={line} width={width} />
      ))}
    </Box>
  );
}
