/** How long ago something was, in words. */
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `at`: epoch milliseconds. */
export function ageOf(at: number, now = Date.now()): string {
  const ms = Math.max(0, now - at);
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ["second", 1000];
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
