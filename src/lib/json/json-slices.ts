/**
 * Finds members and elements in large JSON text, in slices. The text must be valid JSON, as for
 * `json-text.ts`.
 */
import type { Sliced } from "../timing/slices.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { type Span, skipSpace } from "./json-text.ts";

/** The number of characters, strings or escapes between two yields, and their cost. */
const STEPS = 64 * 1024;
const STEPS_COST = 500;

/**
 * Returns the spans of members of the object at `pos`, in the order of `keys`; undefined if one is
 * missing. The last of duplicate keys counts.
 */
export function* membersInSlices(text: string, pos: number, keys: readonly string[]): Sliced<(Span | undefined)[]> {
  const found: (Span | undefined)[] = keys.map(() => undefined);
  const open = skipSpace(text, pos);
  if (text.charCodeAt(open) !== OPEN_BRACE) return found;
  let at = skipSpace(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = yield* skipInSlices(text, at);
    const index = keyEnd - at > MAX_KEY_LENGTH ? -1 : keys.indexOf(JSON.parse(text.slice(at, keyEnd)) as string);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = yield* skipInSlices(text, start);
    if (index !== -1) found[index] = { start, end };
    const comma = skipSpace(text, end);
    if (text.charCodeAt(comma) !== COMMA) break;
    at = skipSpace(text, comma + 1);
  }
  return found;
}

/** Longer than any key that is looked for, with every character escaped. */
const MAX_KEY_LENGTH = 200;

/** Returns the spans of the first `most` elements of the array at `pos`. */
export function* elementsInSlices(text: string, pos: number, most: number): Sliced<Span[]> {
  const spans: Span[] = [];
  let at = skipSpace(text, pos);
  if (text.charCodeAt(at) !== OPEN_BRACKET) return spans;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET && spans.length < most) {
    const end = yield* skipInSlices(text, at);
    spans.push({ start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return spans;
}

/** The bytes that are searched between two yields. */
const WINDOW = 512 * 1024;

/** Whether the text or bytes contain one of the words. Some texts make a native search slow. */
export function* includesInSlices(raw: string | Buffer, words: readonly string[]): Sliced<boolean> {
  const overlap = Math.max(...words.map((word) => word.length)) - 1;
  for (let at = 0; at < raw.length; at += WINDOW) {
    const end = at + WINDOW + overlap;
    const part = typeof raw === "string" ? raw.slice(at, end) : raw.subarray(at, end);
    if (words.some((word) => part.includes(word))) return true;
    yield 2 * STEPS_COST;
  }
  return false;
}

/** Returns the position after the value that starts at `pos`. */
function* skipInSlices(text: string, pos: number): Sliced<number> {
  let steps = 0;
  let depth = 0;
  let i = pos;
  let isInString = false;
  while (i < text.length) {
    if (++steps >= STEPS) {
      yield STEPS_COST;
      steps = 0;
    }
    const c = text.charCodeAt(i);
    if (c === QUOTE || isInString) {
      // `i` is at the opening quote, or at an escaped one.
      const close = text.indexOf('"', i + 1);
      if (close === -1) return text.length;
      let slashes = 0;
      while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
      steps += slashes;
      isInString = slashes % 2 === 1;
      i = close;
      if (isInString) continue;
      if (depth === 0) return i + 1;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (c === COMMA || c <= 32)) return i;
    i++;
  }
  return i;
}
