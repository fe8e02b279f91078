/**
 * Decodes bytes as UTF-8, or fails: invalid bytes are never replaced silently.
 */
import { isUtf8 } from "node:buffer";

/** The decoder's substitute for invalid bytes. A valid text may contain it, too. */
const REPLACEMENT = "\ufffd";

/** Throws a SyntaxError if the bytes are not valid UTF-8. */
export function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  // Almost no text has this character, and V8 skips the search in plain ASCII.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw new SyntaxError("not valid UTF-8");
  return text;
}
