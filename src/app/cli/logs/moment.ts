/** Reads a moment in the past, as people write one. Pure. */
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds since 1970; undefined if the text is neither a time nor a duration. */
export function momentOf(text: string, now: number): number | undefined {
  const duration = /^(\d{1,6})([smhd])$/.exec(text.trim());
  if (duration) return now - Number(duration[1]) * UNITS[duration[2]!]!;
  // Anything shorter would be read as a year.
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}
