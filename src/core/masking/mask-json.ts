/**
 * Masks secrets in JSON. The value of every string is searched, however it is written, and so is
 * JSON within a string, be it all of it, a line or behind a word: no escape hides a value. Only
 * strings with a secret change, and the result is valid JSON.
 */
import { skipLong, skipShort, skipSpaces } from "../../lib/json/bytes/byte-values.ts";
import { jsonIn } from "../../lib/json/bytes/embedded-json.ts";
import { escapeInSlices, joinInSlices, unescapeInSlices } from "../../lib/json/bytes/json-bytes.ts";
import { BACKSLASH, COLON, QUOTE } from "../../lib/json/characters.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { LOOKAHEAD, type MaskCounts, type SecretFinder, WINDOW } from "./secret-finder.ts";

/** JSON in a string in JSON in a string is not looked into further. */
const MAX_DEPTH = 3;
/** What searching one window costs. */
const WINDOW_COST = 1000;
/** Strings between two yields, and what they cost if they are short. */
const MANY = 200;
const MANY_COST = 200;

/** Returns undefined if there is nothing to mask. */
export function* maskInSlices(bytes: Buffer, finder: SecretFinder, counts: MaskCounts): Sliced<Buffer | undefined> {
  if (!(yield* mayHold(bytes, finder))) return undefined;
  return yield* maskStrings(bytes, finder, { counts, depth: 0 });
}

/** Looks at all of it once, as it is written. */
function* mayHold(bytes: Buffer, finder: SecretFinder): Sliced<boolean> {
  for (let at = 0; at < bytes.length; at += WINDOW) {
    if (finder.suspects(bytes.toString("utf8", at, at + WINDOW + MAX_PREFIX_LENGTH))) return true;
    yield WINDOW_COST / 2;
  }
  return false;
}

/** No prefix is longer, and no value of the gateway's own is much longer. */
const MAX_PREFIX_LENGTH = 8192;

interface Where {
  readonly counts: MaskCounts;
  readonly depth: number;
}

function* maskStrings(bytes: Buffer, finder: SecretFinder, where: Where): Sliced<Buffer | undefined> {
  const out: Buffer[] = [];
  let from = 0;
  let seen = 0;
  for (let at = bytes.indexOf(QUOTE); at !== -1; ) {
    let end = skipShort(bytes, at);
    if (end === -1) end = yield* skipLong(bytes, at);
    const isKey = bytes[skipSpaces(bytes, end)] === COLON;
    const value = yield* unescapeInSlices(bytes, { start: at, end });
    const masked = yield* maskValue(value, finder, { ...where, isKey });
    if (masked) {
      out.push(bytes.subarray(from, at));
      for (const part of yield* escapeInSlices(masked)) out.push(part);
      from = end;
    }
    if (++seen % MANY === 0) yield MANY_COST;
    at = bytes.indexOf(QUOTE, end);
  }
  if (out.length === 0) return undefined;
  out.push(bytes.subarray(from));
  return yield* joinInSlices(out);
}

function* maskValue(
  value: Buffer,
  finder: SecretFinder,
  { counts, depth, isKey }: Where & { readonly isKey: boolean },
): Sliced<Buffer | undefined> {
  const inner =
    depth < MAX_DEPTH && value.includes(BACKSLASH) && (yield* jsonIn(value)) !== -1
      ? yield* maskStrings(value, finder, { counts, depth: depth + 1 })
      : undefined;
  const text = inner ?? value;
  const before = total(counts);
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    // One character more on the left, since some secrets must not begin within a word.
    const left = at === 0 ? 0 : leftOf(text, at);
    const part = text.toString("utf8", left, wholeEnd(text, at + WINDOW + LOOKAHEAD));
    const already = at === 0 ? 0 : text.toString("utf8", left, at).length;
    const { text: masked, end } = finder.mask(part, { before: already, most: WINDOW, isKey, counts });
    parts.push(Buffer.from(masked));
    at += Buffer.byteLength(part.slice(already, end));
    yield text.length < WINDOW ? 1 + (text.length >> 7) : WINDOW_COST;
  }
  return total(counts) > before ? yield* joinInSlices(parts) : inner;
}

function total(counts: MaskCounts): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

/** Where the character before this place begins. */
function leftOf(bytes: Buffer, at: number): number {
  let left = at - 1;
  while (left > 0 && (bytes[left]! & 0xc0) === 0x80) left--;
  return left;
}

/** This place, or the next one that is not within a character. */
function wholeEnd(bytes: Buffer, at: number): number {
  let end = Math.min(at, bytes.length);
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end++;
  return end;
}
