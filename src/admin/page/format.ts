/** Numbers, times and sizes as the page shows them. */

export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} s`;
}

export function count(value: number): string {
  return value < 10_000
    ? String(value)
    : value < 1_000_000
      ? `${(value / 1000).toFixed(1)} k`
      : `${(value / 1e6).toFixed(1)} M`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} kB`;
  return `${(value / 1024 / 1024).toFixed(1)} MB`;
}

export function duration(value: number): string {
  const seconds = Math.floor(value / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function clock(time: number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour12: false });
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/**
 * Shows characters that could deceive a reader (what nobody sees, overrides of the writing
 * direction) as their code points.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `⟨${character.codePointAt(0)!.toString(16).padStart(4, "0")}⟩`);
}

// The selector of an emoji changes its look. Anywhere else, and in a row, selectors hide text.
const HIDDEN =
  /(?!\n|\t|(?<=[\p{Extended_Pictographic}\d#*])[\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{VS}\p{DI}\u2800\u{1d159}]/gu;

/** Cuts a text that would be too long to look at. */
export function short(text: string, most = 200): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
