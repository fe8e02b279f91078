/**
 * Reads the elements of an array in unparsed JSON text one by one, and measures the nesting depth
 * of a value.
 *
 * The text between the elements is checked, so a caller that parses each element has checked the
 * whole array. Nothing recurses.
 */
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { type Span, skipSpace, skipValue } from "./json-text.ts";

/**
 * Returns the start of the value of the first member with this key, or -1 if the key is missing.
 * Nothing after it is read.
 */
export function startOfMember(text: string, key: string): number {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return -1;
  do {
    const name = skipSpace(text, at + 1);
    if (text.charCodeAt(name) !== QUOTE) return -1;
    const end = skipValue(text, name);
    const colon = skipSpace(text, end);
    if (text.charCodeAt(colon) !== COLON) return -1;
    at = skipSpace(text, colon + 1);
    if (JSON.parse(text.slice(name, end)) === key) return at;
    at = skipSpace(text, skipValue(text, at));
  } while (text.charCodeAt(at) === COMMA);
  return -1;
}

/** Reads the array at `start` element by element. Throws if it is not valid JSON. */
export class ArrayReader {
  readonly #text: string;
  #at: number;
  /** The end of the array, once all elements are read; -1 before that. */
  end = -1;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
    if (text.charCodeAt(start) !== OPEN_BRACKET) throw notValid();
    const first = skipSpace(text, start + 1);
    if (text.charCodeAt(first) === CLOSE_BRACKET) this.end = first + 1;
  }

  /** Returns undefined after the last element. */
  next(): Span | undefined {
    if (this.end !== -1) return undefined;
    const text = this.#text;
    const start = skipSpace(text, this.#at + 1);
    const end = skipValue(text, start);
    const after = skipSpace(text, end);
    const mark = text.charCodeAt(after);
    if (end === start || (mark !== COMMA && mark !== CLOSE_BRACKET)) throw notValid();
    this.#at = after;
    if (mark === CLOSE_BRACKET) this.end = after + 1;
    return { start, end };
  }
}

/** Returns the nesting depth of a value. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (++depth > deepest) deepest = depth;
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
    else if (c === QUOTE) i = skipValue(text, i) - 1;
  }
  return deepest;
}

function notValid(): SyntaxError {
  return new SyntaxError("The array is not valid JSON");
}
