/**
 * A URI under match, as the parts of the template matcher share it.
 *
 * What must always hold: nothing here knows a template's structure, and every look is constant time
 * but for the length of what it compares.
 */
import type { TemplateValue, TemplateVariable } from "./template.ts";
import { decodeTokens, OCTET } from "./tokens.ts";

const COMMA = 44;

export interface Subject {
  readonly tokens: Uint16Array;
  /**
   * `characters[i]`: how many characters stand before token i; the octets of one encoded character
   * count once.
   */
  readonly characters: Uint32Array;
  /** Only values as the RFC encodes them, or also those of clients that do not encode. */
  readonly strict: boolean;
}

/** Takes a variable's value; false when it contradicts an earlier one. */
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

/** Whether a value from one token to another is short enough for the variable's prefix modifier. */
export function fits(subject: Subject, variable: TemplateVariable, from: number, to: number): boolean {
  if (variable.prefix === 0) return true;
  return (subject.characters[to] ?? 0) - (subject.characters[from] ?? 0) <= variable.prefix;
}

/** A value in which a bare comma can only come from a list. */
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
