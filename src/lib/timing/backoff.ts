/**
 * The delay before the next attempt: doubles from 0.5 s to 30 s, with ±25 % jitter.
 */
const FIRST_MS = 500;
const LAST_MS = 30_000;

export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(base * (0.75 + random() * 0.5));
}
