/**
 * The structure of a JSON value in one line, as a model reads types:
 * `{ total: number, items: { id: number, title: string }[4000] }`.
 *
 * An array is described by its first element and its length. Depth, members and characters are
 * bounded.
 */
import { afterComma, skipLong, skipShort, skipSpaces, valueAfter } from "../../lib/json/bytes/byte-values.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../../lib/json/characters.ts";
import type { Span } from "../../lib/json/json-text.ts";
import type { Sliced } from "../../lib/timing/slices.ts";

const MAX_DEPTH = 4;
const MAX_MEMBERS = 20;
const MAX_KEY_LENGTH = 60;
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

export interface Outline {
  readonly text: string;
  /** The longest array within the first two levels, with the path to it. */
  readonly longest: LongArray | undefined;
}

export interface LongArray extends Span {
  readonly path: string;
  readonly count: number;
}

export function* outlineOf(bytes: Buffer, start: number): Sliced<Outline> {
  const found: { longest?: LongArray } = {};
  const text = yield* typeAt(bytes, start, { depth: 0, path: "", found });
  return { text, longest: found.longest };
}

interface Where {
  readonly depth: number;
  /** Undefined: not within the first levels. */
  readonly path: string | undefined;
  readonly found: { longest?: LongArray };
}

function* typeAt(bytes: Buffer, at: number, where: Where): Sliced<string> {
  switch (bytes[at]) {
    case OPEN_BRACE:
      return yield* objectType(bytes, at, where);
    case OPEN_BRACKET:
      return yield* arrayType(bytes, at, where);
    case QUOTE:
      return "string";
    case LOWER_T:
    case LOWER_F:
      return "boolean";
    case LOWER_N:
      return "null";
    default:
      return "number";
  }
}

/** Members and elements between two yields, and what they cost if they are short. */
const MANY = 1000;
const MANY_COST = 100;

function* objectType(bytes: Buffer, start: number, where: Where): Sliced<string> {
  const shown: string[] = [];
  let count = 0;
  let at = skipSpaces(bytes, start + 1);
  if (where.depth >= MAX_DEPTH) return bytes[at] === CLOSE_BRACE ? "{}" : "{ … }";
  while (bytes[at] !== CLOSE_BRACE) {
    let keyEnd = skipShort(bytes, at);
    if (keyEnd === -1) keyEnd = yield* skipLong(bytes, at);
    const value = valueAfter(bytes, keyEnd);
    if (count++ < MAX_MEMBERS) {
      const name = keyName(bytes, { start: at, end: keyEnd });
      const path = where.path === undefined || where.depth > 1 ? undefined : joined(where.path, name);
      shown.push(`${name}: ${yield* typeAt(bytes, value, { ...where, depth: where.depth + 1, path })}`);
    }
    let end = skipShort(bytes, value);
    if (end === -1) end = yield* skipLong(bytes, value);
    at = afterComma(bytes, end);
    if (count % MANY === 0) yield MANY_COST;
  }
  if (count === 0) return "{}";
  if (count > MAX_MEMBERS) shown.push(`… ${count - MAX_MEMBERS} more`);
  return `{ ${shown.join(", ")} }`;
}

function* arrayType(bytes: Buffer, start: number, where: Where): Sliced<string> {
  let count = 0;
  let at = skipSpaces(bytes, start + 1);
  const first = at;
  while (bytes[at] !== CLOSE_BRACKET) {
    let end = skipShort(bytes, at);
    if (end === -1) end = yield* skipLong(bytes, at);
    at = afterComma(bytes, end);
    if (++count % MANY === 0) yield MANY_COST;
  }
  const { longest } = where.found;
  const isLonger = !longest || at - start > longest.end - longest.start;
  if (where.path !== undefined && count > 0 && isLonger)
    where.found.longest = { start, end: at + 1, path: where.path, count };
  if (count === 0) return "[]";
  const element =
    where.depth >= MAX_DEPTH ? "…" : yield* typeAt(bytes, first, { ...where, depth: where.depth + 1, path: undefined });
  return `${element}[${count}]`;
}

/** A key as it stands in a path. */
function keyName(bytes: Buffer, { start, end }: Span): string {
  const isLong = end - start > 4 * MAX_KEY_LENGTH;
  const key = isLong ? undefined : (JSON.parse(bytes.toString("utf8", start, end)) as string);
  if (key !== undefined && key.length <= MAX_KEY_LENGTH) return PLAIN_KEY.test(key) ? key : JSON.stringify(key);
  return `"${bytes.toString("utf8", start + 1, start + 1 + MAX_KEY_LENGTH).replace(/["\\\uFFFD]/g, "")}…"`;
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
