/**
 * Walks through the members of an object without skipping their values first, so that a long object
 * can be read a part at a time: who reads a value tells where it ends. The text must be valid JSON.
 */
import { COMMA, OPEN_BRACE, QUOTE } from "../../lib/json/characters.ts";
import { skipSpace, skipValue } from "../../lib/json/json-text.ts";

export interface Member {
  readonly key: string;
  /** Where its value starts. */
  readonly start: number;
}

/** Where the first member of the object at `pos` would be. -1: there is no object. */
export function firstMember(text: string, pos: number): number {
  return text.charCodeAt(pos) === OPEN_BRACE ? skipSpace(text, pos + 1) : -1;
}

/** The member at `at`, or undefined if the object has no more. */
export function memberAt(text: string, at: number): Member | undefined {
  if (at < 0 || text.charCodeAt(at) !== QUOTE) return undefined;
  const end = skipValue(text, at);
  return { key: JSON.parse(text.slice(at, end)) as string, start: skipSpace(text, skipSpace(text, end) + 1) };
}

/**
 * Where the member after a value that ends at `end` would be: the object's end if it was the last.
 */
export function memberAfter(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}
