/**
 * Finds values in the bytes of JSON, without decoding them. The bytes must be valid JSON.
 *
 * Invariant: nothing here takes long. A short value is skipped at once, a long one in slices.
 */
import type { Sliced } from "../../timing/slices.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from "../characters.ts";
import type { Span } from "../json-text.ts";

/** Longer values are skipped in slices. */
const SHORT = 4096;
/** From here on, a native search for the end of a string is faster. */
const NEAR = 32;
/** The bytes, strings and escapes between two yields, and their cost. */
const STEPS = 64 * 1024;
const STEPS_COST = 500;

/** Returns the start of the next token. */
export function skipSpaces(bytes: Uint8Array, at: number): number {
  let i = at;
  while (bytes[i]! <= SPACE) i++;
  return i;
}

/** Returns the position after the value at `pos`; -1 if it is long. */
export function skipShort(bytes: Uint8Array, pos: number): number {
  const end = Math.min(bytes.length, pos + SHORT);
  let depth = 0;
  let i = pos;
  while (i < end) {
    const c = bytes[i]!;
    if (c === QUOTE) {
      i++;
      while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
      if (i >= end) return -1;
      if (depth === 0) return i + 1;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (c === COMMA || c <= SPACE)) return i;
    i++;
  }
  return end === bytes.length && depth === 0 ? end : -1;
}

/** Returns the position after the value at `pos`, in slices. */
export function* skipLong(bytes: Buffer, pos: number): Sliced<number> {
  let steps = 0;
  let depth = 0;
  let i = pos;
  while (i < bytes.length) {
    if (++steps >= STEPS) {
      yield STEPS_COST;
      steps = 0;
    }
    const c = bytes[i]!;
    if (c === QUOTE) {
      let end = -1;
      for (let at = i + 1; end < 0; at = -end) {
        end = stringEnd(bytes, at, at + WINDOW);
        if (end < 0) yield STEPS_COST / 4;
      }
      steps += 1 + ((end - i) >> 4);
      i = end;
      if (depth === 0) return i;
      continue;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (c === COMMA || c <= SPACE)) return i;
    i++;
  }
  return i;
}

/** The bytes of a string that are searched at once. */
const WINDOW = 32 * 1024;

/**
 * Returns the position after the closing quote of a string; `from` is in it, and not escaped. If
 * the quote is not found before `until`, returns minus the position to go on from.
 */
function stringEnd(bytes: Buffer, from: number, until: number): number {
  const end = Math.min(until, bytes.length);
  let i = from;
  while (i < end) {
    // Where there are many escapes, a native search for each would be slow.
    const near = Math.min(i + NEAR, end);
    while (i < near) {
      const c = bytes[i];
      if (c === QUOTE) return i + 1;
      i += c === BACKSLASH ? 2 : 1;
    }
    if (i >= end) break;
    const quote = bytes.subarray(i, end).indexOf(QUOTE) + i;
    let next = quote < i ? end : quote;
    let slashes = 0;
    while (next - 1 - slashes >= i && bytes[next - 1 - slashes] === BACKSLASH) slashes++;
    // What follows an odd number of backslashes is escaped.
    if (slashes % 2 === 1) next++;
    else if (quote >= i) return quote + 1;
    i = next;
  }
  return i >= bytes.length ? bytes.length : -i;
}

/** Returns the start of the member or element after a value that ends at `end`, or of the close. */
export function afterComma(bytes: Uint8Array, end: number): number {
  const at = skipSpaces(bytes, end);
  return bytes[at] === COMMA ? skipSpaces(bytes, at + 1) : at;
}

/** Returns the start of the value of the member whose key ends at `keyEnd`. */
export function valueAfter(bytes: Uint8Array, keyEnd: number): number {
  return skipSpaces(bytes, skipSpaces(bytes, keyEnd) + 1);
}

/**
 * Returns the spans of members of the object at `pos`, in the order of `keys`, which are ASCII;
 * undefined if one is missing. The last of duplicate keys counts.
 */
export function* membersOf(bytes: Buffer, pos: number, keys: readonly string[]): Sliced<(Span | undefined)[]> {
  const found: (Span | undefined)[] = keys.map(() => undefined);
  if (bytes[pos] !== OPEN_BRACE) return found;
  let at = skipSpaces(bytes, pos + 1);
  let count = 0;
  while (bytes[at] === QUOTE) {
    let keyEnd = skipShort(bytes, at);
    if (keyEnd === -1) keyEnd = yield* skipLong(bytes, at);
    const index = keyEnd - at > MAX_KEY_LENGTH ? -1 : keys.indexOf(nameAt(bytes, at, keyEnd));
    const start = valueAfter(bytes, keyEnd);
    let end = skipShort(bytes, start);
    if (end === -1) end = yield* skipLong(bytes, start);
    if (index !== -1) found[index] = { start, end };
    at = afterComma(bytes, end);
    if (++count % MANY === 0) yield MANY;
  }
  return found;
}

/** Longer than any key that is looked for, with every character escaped. */
const MAX_KEY_LENGTH = 200;
/** Short values between two yields. */
const MANY = 128;

function nameAt(bytes: Buffer, start: number, end: number): string {
  const written = bytes.toString("latin1", start, end);
  return written.includes("\\") ? (JSON.parse(bytes.toString("utf8", start, end)) as string) : written.slice(1, -1);
}

/** Returns the spans of the first `most` elements of the array at `pos`. */
export function* elementsOf(bytes: Buffer, pos: number, most: number): Sliced<Span[]> {
  const spans: Span[] = [];
  if (bytes[pos] !== OPEN_BRACKET) return spans;
  let at = skipSpaces(bytes, pos + 1);
  while (bytes[at] !== CLOSE_BRACKET && spans.length < most) {
    let end = skipShort(bytes, at);
    if (end === -1) end = yield* skipLong(bytes, at);
    spans.push({ start: at, end });
    at = afterComma(bytes, end);
    if (spans.length % MANY === 0) yield MANY;
  }
  return spans;
}
