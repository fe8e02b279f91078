/**
 * Draws a series of numbers as bars of eighths, newest at the right, one or more rows high.
 *
 * Invariant: every row has exactly the given width. Zero and "not measured" look different from a
 * small value.
 */
const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

export function chart(values: readonly (number | null)[], { width, rows }: { width: number; rows: number }): string[] {
  const shown = values.slice(-width);
  const highest = Math.max(0, ...shown.map((value) => value ?? 0));
  // Nothing happened: a flat line that need not be drawn again each second.
  if (highest <= 0 && shown.some((value) => value !== null)) {
    return Array.from({ length: rows }, (_, row) => (row === rows - 1 ? "·" : " ").repeat(Math.max(0, width)));
  }
  return Array.from({ length: rows }, (_, row) => {
    const below = (rows - 1 - row) * bars.length;
    const drawn = shown.map((value) => {
      if (value === null) return " ";
      if (value <= 0) return below === 0 ? "·" : " ";
      const eighths = Math.ceil((value / highest) * bars.length * rows) - below;
      return eighths <= 0 ? " " : bars[Math.min(bars.length, eighths) - 1];
    });
    return drawn.join("").padStart(width, " ");
  });
}
