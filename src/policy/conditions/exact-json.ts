/**
 * Reads a call's arguments for conditions, exactly: integers keep all digits, and no two readers
 * can see different values.
 *
 * Invariants: the text is valid JSON. An object in which a key appears twice, also in another case,
 * is refused: its server may read the other one. So is a condition that reads a key which the
 * object has in another spelling: `repo_name` and `repoName` are one name to many readers.
 */
import { foldKey, foldWords } from "../../lib/json/fold-key.ts";

export type ExactValue = string | number | bigint | boolean | null | readonly ExactValue[] | Members;

/** Thrown for arguments that two readers can understand differently. */
export class AmbiguousArguments extends Error {}

/** An object. It is a map, so that no key means anything to JavaScript. */
export class Members extends Map<string, ExactValue> {
  /** The keys, by the form that readers may reduce them to. A list: several have this form. */
  readonly #forms = new Map<string, string | readonly string[]>();
  #hasLookalikes = false;
  /** The names that the tool's schema has here. */
  declared: ReadonlySet<string> = NO_NAMES;

  override set(key: string, value: ExactValue): this {
    const form = foldWords(key);
    const known = this.#forms.get(form);
    if (known === undefined) this.#forms.set(form, key);
    else this.#addLookalike(form, [known].flat(), key);
    return super.set(key, value);
  }

  override get(key: string): ExactValue | undefined {
    const value = super.get(key);
    if (value === undefined || this.#hasLookalikes) this.#refuseLookalikes(key);
    return value;
  }

  override has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Names that differ in `_` and `-` are different ones to most readers, unless one is read. */
  #addLookalike(form: string, known: readonly string[], key: string): void {
    const isTwice = known.length > MAX_LOOKALIKES || known.some((one) => foldKey(one) === foldKey(key));
    if (isTwice) throw new AmbiguousArguments(`"${key}" appears twice in an object; send it once`);
    this.#forms.set(form, [...known, key]);
    this.#hasLookalikes = true;
  }

  /** A key that the schema has in this very spelling is another argument to its server, too. */
  #refuseLookalikes(key: string): void {
    // A condition may look for a number in a map.
    const known = typeof key === "string" ? this.#forms.get(foldWords(key)) : undefined;
    const other = known && [known].flat().find((one) => one !== key && !this.declared.has(one));
    if (other !== undefined) throw misspelled(other, key);
  }
}

const MAX_LOOKALIKES = 8;
const NO_NAMES: ReadonlySet<string> = new Set();
// The interpreter knows a map by its constructor.
Object.defineProperty(Members.prototype, "constructor", { value: Map });

export function misspelled(written: string, name: string): AmbiguousArguments {
  return new AmbiguousArguments(`"${written}" must be written as "${name}"`);
}

/** How much there is to read. */
export interface Size {
  /** How many values, at all depths. */
  readonly values: number;
  /** How many characters of JSON. */
  readonly length: number;
}

export interface ExactArguments {
  readonly value: Members;
  readonly size: Size;
  /** Of each argument. */
  readonly sizes: ReadonlyMap<string, Size>;
}

const MAX_DEPTH = 200;
/** Reading more would keep the gateway busy for too long. */
const MAX_VALUES = 250_000;
/** More digits are not a number that anybody computes with. */
const MAX_DIGITS = 80;
const TOKEN = /[ \t\r\n]*(?:([{}[\]:,])|("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*|true|false|null))/y;

export function readExactly(text: string): ExactArguments {
  let at = 0;
  let values = 0;
  let match: RegExpExecArray | undefined;
  const sizes = new Map<string, Size>();
  const next = (): string => {
    TOKEN.lastIndex = at;
    match = TOKEN.exec(text) ?? undefined;
    if (!match) throw new AmbiguousArguments("the arguments are not JSON");
    at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3]!;
  };
  const readValue = (token: string, depth: number): ExactValue => {
    if (++values > MAX_VALUES) throw new AmbiguousArguments("the arguments have too many values for a condition");
    if (depth > MAX_DEPTH) throw new AmbiguousArguments("the arguments are nested too deeply");
    if (token === "{") return objectAt(depth);
    if (token === "[") return listAt(depth);
    if (token.startsWith('"')) return JSON.parse(token) as string;
    return literal(token);
  };
  const objectAt = (depth: number): Members => {
    const members = new Members();
    let token = next();
    while (token !== "}") {
      if (token === ",") token = next();
      const key = JSON.parse(token) as string;
      next();
      const before = { values, at };
      members.set(key, readValue(next(), depth + 1));
      if (depth === 0) sizes.set(key, { values: values - before.values, length: at - before.at });
      token = next();
    }
    return members;
  };
  const listAt = (depth: number): ExactValue[] => {
    const elements: ExactValue[] = [];
    let token = next();
    while (token !== "]") {
      if (token === ",") token = next();
      elements.push(readValue(token, depth + 1));
      token = next();
    }
    return elements;
  };
  const value = readValue(next(), 0);
  if (!(value instanceof Members)) throw new AmbiguousArguments("the arguments are not an object");
  return { value, size: { values, length: text.length }, sizes };
}

function literal(token: string): ExactValue {
  if (token === "true" || token === "false") return token === "true";
  if (token === "null") return null;
  if (/[.eE]/.test(token)) return Number(token);
  if (token.length > MAX_DIGITS) throw new AmbiguousArguments("a number has too many digits");
  return BigInt(token);
}
