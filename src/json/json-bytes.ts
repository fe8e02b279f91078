/**
 * JSON as bytes that can be searched as text: each byte is one character, so that places in the
 * text are places in the bytes. What is not ASCII stays in pieces, which no reader of structure
 * looks at.
 *
 * Invariant: nothing here takes long. Strings of any length are read and written in slices.
 */
import type { Sliced } from "../timing/slices.ts";
import { BACKSLASH, LOWER_U, QUOTE, SPACE } from "./characters.ts";
import type { Span } from "./json-text.ts";

export interface JsonBytes {
  readonly bytes: Buffer;
  /** The bytes, one character each. */
  readonly text: string;
}

export function jsonBytes(raw: string | Buffer): JsonBytes {
  const bytes = typeof raw === "string" ? Buffer.from(raw) : raw;
  return { bytes, text: bytes.toString("latin1") };
}

/** A name as it is found in the text of `JsonBytes`. */
export function byteForm(name: string): string {
  return Buffer.from(name).toString("latin1");
}

/** Returns the key that begins at `start`, in its byte form. `end` is after its closing quote. */
export function byteKey({ text, bytes }: JsonBytes, { start, end }: Span): string {
  const written = text.slice(start + 1, end - 1);
  if (!written.includes("\\")) return written;
  return byteForm(JSON.parse(bytes.toString("utf8", start, end)) as string);
}

/** The bytes between two yields, and what they cost if many are escapes. */
const PART = 128 * 1024;
const PART_COST = 2000;

const SIMPLE: Readonly<Record<string, number>> = { b: 8, f: 12, n: 10, r: 13, t: 9 };

/**
 * Returns the value of the string in the span, quotes included, as UTF-8. Half a surrogate pair
 * becomes U+FFFD.
 */
export function* unescapeInSlices({ bytes }: Pick<JsonBytes, "bytes">, span: Span): Sliced<Buffer> {
  const end = span.end - 1;
  let at = span.start + 1;
  let slash = bytes.indexOf(BACKSLASH, at);
  if (slash === -1 || slash >= end) return bytes.subarray(at, end);
  // No escape is shorter than its value.
  const out = Buffer.allocUnsafe(end - at);
  let length = 0;
  let pause = at + PART;
  while (slash !== -1 && slash < end) {
    length += bytes.copy(out, length, at, slash);
    const letter = bytes[slash + 1]!;
    if (letter !== LOWER_U) {
      out[length++] = SIMPLE[String.fromCharCode(letter)] ?? letter;
      at = slash + 2;
    } else {
      at = slash + 6;
      // The first half of a pair is nothing without the second.
      if (
        /^d[89ab]/i.test(bytes.toString("latin1", slash + 2, at)) &&
        bytes[at] === BACKSLASH &&
        bytes[at + 1] === LOWER_U
      )
        at += 6;
      length += out.write(JSON.parse(`"${bytes.toString("latin1", slash, at)}"`) as string, length);
    }
    slash = bytes[at] === BACKSLASH ? at : bytes.indexOf(BACKSLASH, at);
    if (at < pause) continue;
    yield PART_COST;
    pause = at + PART;
  }
  length += bytes.copy(out, length, at, end);
  return out.subarray(0, length);
}

/** Returns a text, given as UTF-8, as a JSON string with its quotes. */
export function* escapeInSlices(bytes: Buffer): Sliced<Buffer> {
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
  return Buffer.concat(parts);
}

const QUOTE_BYTE = Buffer.from('"');

function isPlain(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) return false;
  return true;
}
