/**
 * Draws a series of numbers as eight-step bars, newest at the right.
 *
 * Invariant: the line has exactly the given width. Zero and "not measured" look different from a
 * small value.
 */
const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

export function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = values.slice(-width);
  const highest = Math.max(0, ...shown.map((value) => value ?? 0));
  const drawn = shown.map((value) => {
    if (value === null) return " ";
    if (value <= 0 || highest <= 0) return "·";
    return bars[Math.min(bars.length - 1, Math.ceil((value / highest) * bars.length) - 1)];
  });
  return drawn.join("").padStart(width, " ");
}
