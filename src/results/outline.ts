/**
 * The structure of a JSON value in one line, as a model reads types:
 * `{ total: number, items: { id: number, title: string }[4000] }`.
 *
 * An array is described by its first element and its length. Depth, members and characters are
 * bounded.
 */
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/characters.ts";
import type { JsonBytes } from "../json/json-bytes.ts";
import { skipInSlices } from "../json/json-slices.ts";
import { type Span, skipSpace } from "../json/json-text.ts";
import type { Sliced } from "../timing/slices.ts";

const DEEPEST = 4;
const MOST_MEMBERS = 20;
const LONGEST_KEY = 60;
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

export function* outlineOf(json: JsonBytes, start: number): Sliced<Outline> {
  const found: { longest?: LongArray } = {};
  const text = yield* typeAt(json, start, { depth: 0, path: "", found });
  return { text, longest: found.longest };
}

interface Where {
  readonly depth: number;
  /** Undefined: not within the first levels. */
  readonly path: string | undefined;
  readonly found: { longest?: LongArray };
}

function* typeAt(json: JsonBytes, at: number, where: Where): Sliced<string> {
  switch (json.text.charCodeAt(at)) {
    case OPEN_BRACE:
      return yield* objectType(json, at, where);
    case OPEN_BRACKET:
      return yield* arrayType(json, at, where);
    case QUOTE:
      return "string";
    default:
      return /^[tf]/.test(json.text[at]!) ? "boolean" : json.text[at] === "n" ? "null" : "number";
  }
}

function* objectType(json: JsonBytes, start: number, where: Where): Sliced<string> {
  const { text } = json;
  const shown: string[] = [];
  let count = 0;
  let at = skipSpace(text, start + 1);
  if (where.depth >= DEEPEST) return text.charCodeAt(at) === CLOSE_BRACE ? "{}" : "{ … }";
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const key = { start: at, end: yield* skipInSlices(text, at) };
    const value = skipSpace(text, skipSpace(text, key.end) + 1);
    if (count++ < MOST_MEMBERS) {
      const name = keyName(json, key);
      const path = where.path === undefined || where.depth > 1 ? undefined : joined(where.path, name);
      shown.push(`${name}: ${yield* typeAt(json, value, { ...where, depth: where.depth + 1, path })}`);
    }
    at = skipSpace(text, yield* skipInSlices(text, value));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    yield 2;
  }
  if (count === 0) return "{}";
  if (count > MOST_MEMBERS) shown.push(`… ${count - MOST_MEMBERS} more`);
  return `{ ${shown.join(", ")} }`;
}

function* arrayType(json: JsonBytes, start: number, where: Where): Sliced<string> {
  const { text } = json;
  let count = 0;
  let at = skipSpace(text, start + 1);
  const first = at;
  while (text.charCodeAt(at) !== CLOSE_BRACKET) {
    count++;
    at = skipSpace(text, yield* skipInSlices(text, at));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    yield 1;
  }
  const { longest } = where.found;
  const isLonger = !longest || at - start > longest.end - longest.start;
  if (where.path !== undefined && count > 0 && isLonger)
    where.found.longest = { start, end: at + 1, path: where.path, count };
  if (count === 0) return "[]";
  const element =
    where.depth >= DEEPEST ? "…" : yield* typeAt(json, first, { ...where, depth: where.depth + 1, path: undefined });
  return `${element}[${count}]`;
}

/** A key as it stands in a path. */
function keyName({ bytes }: JsonBytes, { start, end }: Span): string {
  const isLong = end - start > 4 * LONGEST_KEY;
  const key = isLong ? undefined : (JSON.parse(bytes.toString("utf8", start, end)) as string);
  if (key !== undefined && key.length <= LONGEST_KEY) return PLAIN_KEY.test(key) ? key : JSON.stringify(key);
  return `"${bytes.toString("utf8", start + 1, start + 1 + LONGEST_KEY).replace(/["\\\uFFFD]/g, "")}…"`;
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
