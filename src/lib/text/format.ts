/**
 * Formats numbers, sizes, durations and clock times for people, in narrow columns.
 */

export function formatCount(value: number): string {
  if (value < 10_000) return String(Math.round(value));
  if (value < 1_000_000) return `${trim(value / 1000)}k`;
  return `${trim(value / 1_000_000)}M`;
}

export function formatBytes(value: number | undefined): string {
  if (value === undefined) return "–";
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${trim(value / 1024)} KB`;
  if (value < 1024 ** 3) return `${trim(value / 1024 ** 2)} MB`;
  return `${trim(value / 1024 ** 3)} GB`;
}

/** Formats a latency; `null` means "not measured yet". */
export function formatMs(value: number | null): string {
  if (value === null) return "–";
  if (value < 10) return `${trim(value)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return `${trim(value / 1000)} s`;
}

/** Formats a duration in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/**
 * Formats how long something has been so, in one line that rarely changes: seconds only during the
 * first minute.
 */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 1 || minutes >= 60 ? formatDuration(ms) : `${minutes}m`;
}

export function formatClock(time: number): string {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const two = (value: number): string => String(value).padStart(2, "0");
const trim = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
