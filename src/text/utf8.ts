/**
 * Bytes as text, only if that is what they are: bytes that are not UTF-8 are never replaced by
 * something else.
 */
import { isUtf8 } from "node:buffer";

/**
 * What a decoder puts in place of bytes that it cannot read; it may also stand in a text of its own
 * right.
 */
const REPLACEMENT = "\ufffd";

/** Throws where the bytes are not valid UTF-8. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  // Nearly no text has the character, and one of plain ASCII is not even searched for it.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw new SyntaxError("not valid UTF-8");
  return text;
}
