/**
 * The URI to match, as shared by the parts of the template matcher.
 *
 * Invariant: nothing here depends on a template's structure, and each access takes constant time,
 * plus the length compared.
 */
import type { TemplateValue, TemplateVariable } from "./template.ts";
import { decodeTokens, OCTET } from "./tokens.ts";

const COMMA = 44;

export interface Subject {
  readonly tokens: Uint16Array;
  /**
   * `characters[i]`: the number of characters before token i. The octets of one encoded character
   * count once.
   */
  readonly characters: Uint32Array;
  /**
   * True: only RFC-encoded values match. False: values of clients that do not encode match, too.
   */
  readonly strict: boolean;
}

/** Takes a variable's value. Returns false if it contradicts an earlier one. */
export type Capture = (variable: TemplateVariable, value: TemplateValue) => boolean;

export function subjectOf(tokens: Uint16Array): Subject {
  const characters = new Uint32Array(tokens.length + 1);
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] ?? 0;
    const continues = token >= OCTET + 0x80 && token < OCTET + 0xc0;
    characters[i + 1] = (characters[i] ?? 0) + (continues ? 0 : 1);
  }
  return { tokens, characters, strict: true };
}

export function holdsAt(tokens: Uint16Array, wanted: Uint16Array, at: number): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (tokens[at + i] !== wanted[i]) return false;
  return true;
}

/** Returns whether a value is short enough for the variable's prefix modifier. */
export function fits(subject: Subject, variable: TemplateVariable, from: number, to: number): boolean {
  if (variable.prefix === 0) return true;
  return (subject.characters[to] ?? 0) - (subject.characters[from] ?? 0) <= variable.prefix;
}

/** Decodes a value in which a bare comma can only separate list items. */
export function plainValue(tokens: Uint16Array): TemplateValue {
  if (!tokens.includes(COMMA)) return decodeTokens(tokens, false);
  return splitTokens(tokens, COMMA).map((item) => decodeTokens(item, false));
}

export function splitTokens(tokens: Uint16Array, separator: number): Uint16Array[] {
  const items: Uint16Array[] = [];
  let begin = 0;
  for (let i = 0; i <= tokens.length; i += 1) {
    if (i < tokens.length && tokens[i] !== separator) continue;
    items.push(tokens.subarray(begin, i));
    begin = i + 1;
  }
  return items;
}
