/** Finds JSON in a text that is nothing else: tools often give their result as such a text. */
import type { Sliced } from "../../timing/slices.ts";
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../characters.ts";
import { scanInSlices, skipBlank } from "../json-scan.ts";

/**
 * Returns where the text's only value begins, if that is an object, an array or a string; otherwise
 * -1. The text is UTF-8.
 */
export function* jsonIn(bytes: Buffer): Sliced<number> {
  const start = skipBlank(bytes, 0, bytes.length);
  const first = bytes[start];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET && first !== QUOTE) return -1;
  const scanned = yield* scanInSlices(bytes, start);
  return scanned && skipBlank(bytes, scanned.end, bytes.length) === bytes.length ? start : -1;
}
