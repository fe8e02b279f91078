/**
 * How long to wait before the next attempt: doubling from half a second to half a minute, with a
 * quarter of jitter.
 */
const FIRST_MS = 500;
const LAST_MS = 30_000;

export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(base * (0.75 + random() * 0.5));
}
