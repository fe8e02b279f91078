/**
 * The canonical form of a JSON text: no spaces, the members of objects sorted by key, strings with
 * as few escapes as possible. Numbers stay as they are written: 1 and 1.0 are different, and no
 * integer is too large. Two texts that any reader may tell apart have different forms, so
 * duplicate keys stay too, in their order.
 *
 * The text must be valid JSON, and not nested so deeply that a walk of it overflows the stack.
 */
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { skipSpace, skipValue } from "./json-text.ts";

export function canonical(text: string): string {
  return new CanonicalWriter(text).value();
}

interface Member {
  readonly key: string;
  readonly text: string;
}

class CanonicalWriter {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): string {
    this.#at = skipSpace(this.#text, this.#at);
    const first = this.#text.charCodeAt(this.#at);
    if (first === OPEN_BRACE) return this.#object();
    if (first === OPEN_BRACKET) return this.#array();
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

/** The string with as few escapes as JSON allows. */
function shortest(lexeme: string): string {
  return lexeme.includes("\\") ? JSON.stringify(JSON.parse(lexeme)) : lexeme;
}
