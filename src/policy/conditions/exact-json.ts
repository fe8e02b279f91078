/**
 * Reads a call's arguments for conditions, exactly: integers keep all digits, and no two readers
 * can see different values.
 *
 * Invariant: the text is valid JSON. An object in which a key appears twice, also in another case,
 * is refused: its server may read the other one.
 */
import { foldKey } from "../../lib/json/fold-key.ts";

/** Objects are maps, so that no key means anything to JavaScript. */
export type ExactValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ExactValue[]
  | ReadonlyMap<string, ExactValue>;

/** Thrown for arguments that two readers can understand differently. */
export class AmbiguousArguments extends Error {}

export interface ExactArguments {
  readonly value: ReadonlyMap<string, ExactValue>;
  /** How many values there are, at all depths. */
  readonly size: number;
}

const MAX_DEPTH = 200;
/** More digits are not a number that anybody computes with. */
const MAX_DIGITS = 80;
const TOKEN = /[ \t\r\n]*(?:([{}[\]:,])|("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*|true|false|null))/y;

export function readExactly(text: string): ExactArguments {
  let at = 0;
  let size = 0;
  let match: RegExpExecArray | undefined;
  const next = (): string => {
    TOKEN.lastIndex = at;
    match = TOKEN.exec(text) ?? undefined;
    if (!match) throw new AmbiguousArguments("the arguments are not JSON");
    at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3]!;
  };
  const readValue = (token: string, depth: number): ExactValue => {
    size++;
    if (depth > MAX_DEPTH) throw new AmbiguousArguments("the arguments are nested too deeply");
    if (token === "{") return objectAt(depth);
    if (token === "[") return listAt(depth);
    if (token.startsWith('"')) return JSON.parse(token) as string;
    return literal(token);
  };
  const objectAt = (depth: number): ReadonlyMap<string, ExactValue> => {
    const members = new Map<string, ExactValue>();
    const seen = new Set<string>();
    let token = next();
    while (token !== "}") {
      if (token === ",") token = next();
      const key = JSON.parse(token) as string;
      const form = foldKey(key);
      if (seen.has(form)) throw new AmbiguousArguments(`"${key}" appears twice in an object; send it once`);
      seen.add(form);
      next();
      members.set(key, readValue(next(), depth + 1));
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
  if (!(value instanceof Map)) throw new AmbiguousArguments("the arguments are not an object");
  return { value, size };
}

function literal(token: string): ExactValue {
  if (token === "true" || token === "false") return token === "true";
  if (token === "null") return null;
  if (/[.eE]/.test(token)) return Number(token);
  if (token.length > MAX_DIGITS) throw new AmbiguousArguments("a number has too many digits");
  return BigInt(token);
}
