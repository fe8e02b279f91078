/**
 * The elements of an array in a text that nobody has parsed, one by one, and how deep a value is
 * nested.
 *
 * What stands between the elements is checked; whoever parses each element has checked the whole
 * array. Nothing recurses.
 */
import { type Span, skipSpace, skipValue } from "./json-text.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

/** `array` is the span of the array, brackets and all. Throws where it is not valid JSON. */
export function* elementsOf(text: string, array: Span): Generator<Span> {
  const last = array.end - 1;
  if (text.charCodeAt(last) !== CLOSE_BRACKET) throw notValid();
  let at = skipSpace(text, array.start + 1);
  if (at === last) return;
  for (;;) {
    const end = skipValue(text, at);
    if (end === at || end > last) throw notValid();
    yield { start: at, end };
    at = skipSpace(text, end);
    if (at === last) return;
    if (text.charCodeAt(at) !== COMMA) throw notValid();
    at = skipSpace(text, at + 1);
  }
}

/** How many objects and arrays of a value are inside of one another. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (++depth > deepest) deepest = depth;
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
    else if (c === QUOTE) {
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
    }
  }
  return deepest;
}

function notValid(): SyntaxError {
  return new SyntaxError("The array is not valid JSON");
}
