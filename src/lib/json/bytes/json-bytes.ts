/**
 * Reads and writes JSON strings of any length as UTF-8, in slices, and joins large parts.
 */
import type { Sliced } from "../../timing/slices.ts";
import { BACKSLASH, LOWER_U, QUOTE, SPACE } from "../characters.ts";
import type { Span } from "../json-text.ts";

/** A name as `byteKey` returns it: one character for each byte. */
export function byteForm(name: string): string {
  return Buffer.from(name).toString("latin1");
}

/** Returns the key in the span, quotes included, in its byte form. */
export function byteKey(bytes: Buffer, { start, end }: Span): string {
  const written = bytes.toString("latin1", start + 1, end - 1);
  if (!written.includes("\\")) return written;
  return byteForm(JSON.parse(bytes.toString("utf8", start, end)) as string);
}

/** The bytes between two yields, and what they cost if many are escapes. */
const PART = 128 * 1024;
const PART_COST = 2000;

const simple = new Uint8Array(256);
for (let letter = 0; letter < 256; letter++) simple[letter] = letter;
for (const [letter, value] of Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9 })) simple[letter.charCodeAt(0)] = value;

/**
 * Returns the value of the string in the span, quotes included, as UTF-8. Half a surrogate pair
 * becomes U+FFFD.
 */
export function* unescapeInSlices(bytes: Buffer, span: Span): Sliced<Buffer> {
  const written = bytes.subarray(span.start + 1, span.end - 1);
  const end = written.length;
  let slash = written.indexOf(BACKSLASH);
  if (slash === -1) return written;
  // No escape is shorter than its value.
  const out = Buffer.allocUnsafe(end);
  let at = 0;
  let length = 0;
  let pause = PART;
  while (slash !== -1) {
    length += written.copy(out, length, at, slash);
    const letter = written[slash + 1]!;
    if (letter !== LOWER_U) {
      out[length++] = simple[letter]!;
      at = slash + 2;
    } else {
      let code = unitAt(written, slash + 2);
      at = slash + 6;
      if (isHigh(code) && written[at] === BACKSLASH && written[at + 1] === LOWER_U) {
        const low = unitAt(written, at + 2);
        if (isLow(low)) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          at += 6;
        }
      }
      length = putCharacter(out, length, isHigh(code) || isLow(code) ? 0xfffd : code);
    }
    slash = written[at] === BACKSLASH ? at : written.indexOf(BACKSLASH, at);
    if (at < pause) continue;
    yield PART_COST;
    pause = at + PART;
  }
  length += written.copy(out, length, at, end);
  return out.subarray(0, length);
}

function unitAt(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = bytes[i]!;
    unit = (unit << 4) | (digit <= 57 ? digit - 48 : (digit | 32) - 87);
  }
  return unit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Writes a character as UTF-8. Returns the position after it. */
function putCharacter(out: Uint8Array, at: number, code: number): number {
  let i = at;
  if (code < 0x80) out[i++] = code;
  else if (code < 0x800) out[i++] = 0xc0 | (code >> 6);
  else if (code < 0x10000) {
    out[i++] = 0xe0 | (code >> 12);
    out[i++] = 0x80 | ((code >> 6) & 63);
  } else {
    out[i++] = 0xf0 | (code >> 18);
    out[i++] = 0x80 | ((code >> 12) & 63);
    out[i++] = 0x80 | ((code >> 6) & 63);
  }
  if (code >= 0x80) out[i++] = 0x80 | (code & 63);
  return i;
}

/** Returns a text, given as UTF-8, as the parts of a JSON string with its quotes. */
export function* escapeInSlices(bytes: Buffer): Sliced<Buffer[]> {
  const parts: Buffer[] = [QUOTE_BYTE];
  let from = 0;
  while (from < bytes.length) {
    let end = Math.min(from + PART, bytes.length);
    // Not within a character.
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
    const part = bytes.subarray(from, end);
    parts.push(isPlain(part) ? part : Buffer.from(JSON.stringify(part.toString("utf8")).slice(1, -1)));
    from = end;
    yield PART_COST;
  }
  parts.push(QUOTE_BYTE);
  return parts;
}

const QUOTE_BYTE = Buffer.from('"');

function isPlain(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) return false;
  return true;
}

/** The bytes that are copied at once, and their cost. */
const COPIED = 1024 * 1024;
const COPY_COST = 1000;

/** `Buffer.concat` in slices. */
export function* joinInSlices(parts: readonly Buffer[]): Sliced<Buffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length <= COPIED) return Buffer.concat(parts, length);
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  let pause = COPIED;
  for (const part of parts) {
    for (let from = 0; from < part.length; from += COPIED) {
      at += part.copy(out, at, from, Math.min(from + COPIED, part.length));
      if (at < pause) continue;
      yield COPY_COST;
      pause = at + COPIED;
    }
  }
  return out;
}
