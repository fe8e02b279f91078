/**
 * The canonical form of a JSON text: no spaces, the members of objects sorted by key, strings with
 * as few escapes as possible. Numbers stay as they are written: 1 and 1.0 are different, and no
 * integer is too large. Two texts that any reader may tell apart have different forms, so
 * duplicate keys stay too, in their order; or they are refused, where all readers must find the
 * same values.
 *
 * The text must be valid JSON, and not nested so deeply that a walk of it overflows the stack.
 */
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { skipSpace, skipValue } from "./json-text.ts";

/** Thrown for a text without a form that means the same to every reader. */
export class NotCanonical extends Error {}

export function canonical(text: string): string {
  return new CanonicalWriter(text).value();
}

/** @throws NotCanonical if a key comes twice in an object, or the text is nested too deeply */
export function unambiguous(text: string): string {
  return new CanonicalWriter(text, MAX_DEPTH).value();
}

const MAX_DEPTH = 500;

interface Member {
  readonly key: string;
  readonly text: string;
}

class CanonicalWriter {
  readonly #text: string;
  /** Undefined: anything has a form. */
  readonly #maxDepth: number | undefined;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth?: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  value(): string {
    this.#at = skipSpace(this.#text, this.#at);
    const first = this.#text.charCodeAt(this.#at);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (++this.#depth > (this.#maxDepth ?? Number.POSITIVE_INFINITY))
        throw new NotCanonical("it is nested too deeply");
      const text = first === OPEN_BRACE ? this.#object() : this.#array();
      this.#depth--;
      return text;
    }
    const lexeme = this.#lexeme();
    return first === QUOTE ? shortest(lexeme) : lexeme;
  }

  #object(): string {
    const members: Member[] = [];
    while (this.#goesOn(CLOSE_BRACE)) {
      const lexeme = this.#lexeme();
      const key = JSON.parse(lexeme) as string;
      this.#at = skipSpace(this.#text, this.#at) + 1;
      members.push({ key, text: `${shortest(lexeme)}:${this.value()}` });
    }
    members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    if (this.#maxDepth !== undefined) assertUnique(members);
    return `{${members.map(({ text }) => text).join(",")}}`;
  }

  #array(): string {
    const elements: string[] = [];
    while (this.#goesOn(CLOSE_BRACKET)) elements.push(this.value());
    return `[${elements.join(",")}]`;
  }

  /** Moves to the next member or element. False: the container ended, and the place is after it. */
  #goesOn(close: number): boolean {
    const at = skipSpace(this.#text, this.#at);
    const c = this.#text.charCodeAt(at);
    if (c === close) {
      this.#at = at + 1;
      return false;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET || c === COMMA) {
      this.#at = skipSpace(this.#text, at + 1);
      // The container is empty.
      if (this.#text.charCodeAt(this.#at) === close) {
        this.#at++;
        return false;
      }
    }
    return true;
  }

  #lexeme(): string {
    const start = this.#at;
    this.#at = skipValue(this.#text, start);
    return this.#text.slice(start, this.#at);
  }
}

function assertUnique(sorted: readonly Member[]): void {
  const twice = sorted.find(({ key }, i) => sorted[i + 1]?.key === key);
  if (twice) throw new NotCanonical(`${JSON.stringify(twice.key)} appears twice in an object`);
}

/** The string with as few escapes as JSON allows. */
function shortest(lexeme: string): string {
  return lexeme.includes("\\") ? JSON.stringify(JSON.parse(lexeme)) : lexeme;
}
