/**
 * Finds the end of a long object or array, about four times as fast as character by character: the
 * text is copied into a window of code units. The text must be valid JSON.
 */
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";

const WINDOW = 32 * 1024;
const bytes = Buffer.alloc(2 * WINDOW);
/** The code units in `bytes`. Nothing here awaits, so one window is enough. */
const units = new Uint16Array(bytes.buffer, bytes.byteOffset, WINDOW);

const OPENS = 1;
const CLOSES = 2;
const QUOTES = 3;
const kinds = new Uint8Array(1 << 16);
kinds[OPEN_BRACE] = kinds[OPEN_BRACKET] = OPENS;
kinds[CLOSE_BRACE] = kinds[CLOSE_BRACKET] = CLOSES;
kinds[QUOTE] = QUOTES;

/**
 * Returns the position after the container that is `depth` levels around `pos`, which is not in a
 * string.
 */
export function skipLong(text: string, pos: number, depth: number): number {
  let open = depth;
  let start = pos;
  while (start < text.length) {
    const length = bytes.write(text.slice(start, start + WINDOW), "utf16le") >> 1;
    let i = 0;
    while (i < length) {
      const kind = kinds[units[i]!];
      i++;
      if (kind === OPENS) open++;
      else if (kind === CLOSES) {
        if (--open === 0) return start + i;
      } else if (kind === QUOTES) {
        i = afterQuote(i, length);
        if (i < 0) i = afterString(text, start - i) - start;
      }
    }
    start += i;
  }
  return text.length;
}

/** Returns the position after the string in the window; negative where it goes on behind it. */
function afterQuote(from: number, length: number): number {
  let i = from;
  while (i < length) {
    const c = units[i]!;
    if (c === QUOTE) return i + 1;
    i += c === BACKSLASH ? 2 : 1;
  }
  return -i;
}

/** Returns the position after the string. `from` is in it, and not escaped. */
function afterString(text: string, from: number): number {
  let start = from;
  for (;;) {
    const quote = text.indexOf('"', start);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (quote - 1 - slashes >= start && text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    start = quote + 1;
    if (slashes % 2 === 0) return start;
  }
}

/** The window is read in the order of the machine. */
export const canSkipLong = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
