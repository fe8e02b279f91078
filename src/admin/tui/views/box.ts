/** A panel in a border, with its title in the upper edge. */
import { fitLine, type Line, lineWidth, span } from "../text/line.ts";

export interface Box {
  readonly title: Line;
  readonly lines: readonly Line[];
  /** The size with the border. */
  readonly width: number;
  readonly rows: number;
}

export function boxed({ title, lines, width, rows }: Box): Line[] {
  const inner = width - 2;
  const named = fitLine(title, inner - 3, false);
  const rest = "─".repeat(Math.max(0, inner - 2 - lineWidth(named)));
  const top: Line = [span("╭─", "quiet"), ...named, span(` ${rest}╮`, "quiet")];
  const bottom: Line = [span(`╰${"─".repeat(inner)}╯`, "quiet")];
  const body = Array.from({ length: Math.max(0, rows - 2) }, (_, row): Line => {
    return [span("│", "quiet"), ...fitLine(lines[row] ?? [], inner), span("│", "quiet")];
  });
  return [top, ...body, bottom];
}
