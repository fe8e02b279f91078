/** A scroll bar as one cell for each row: where the window is, and how much it shows. */
import { type Span, span } from "../text/line.ts";

export function scrollBar({ top, height, total }: { top: number; height: number; total: number }): Span[] {
  const size = Math.max(1, Math.round((height * height) / Math.max(1, total)));
  const room = height - size;
  const from = total <= height ? 0 : Math.round((top / (total - height)) * room);
  return Array.from({ length: height }, (_, row) =>
    row >= from && row < from + size ? span("┃", "accent") : span("│", "quiet"),
  );
}
