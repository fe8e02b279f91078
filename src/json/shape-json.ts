/**
 * Leaves fields out of JSON, and spaces. What is kept keeps its own characters: numbers and strings
 * are never read and written again.
 *
 * The text must be valid JSON. Nothing recurses, and the work is done in slices.
 */
import type { Sliced } from "../timing/slices.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from "./characters.ts";
import { compilePatterns, inElements, inMember, isMatched, type PatternStates } from "./field-patterns.ts";
import { byteKey, type JsonBytes } from "./json-bytes.ts";
import { skipInSlices } from "./json-slices.ts";
import { type Span, skipSpace } from "./json-text.ts";

export interface Fields {
  /** What is kept; everything, if this is empty. */
  readonly pick: PatternStates;
  readonly drop: PatternStates;
}

export function fieldsOf(pick: readonly string[], drop: readonly string[]): Fields {
  return { pick: compilePatterns(pick), drop: compilePatterns(drop) };
}

/** A container that is kept in part. */
interface Level {
  readonly isObject: boolean;
  /** Undefined: all of it is kept, but for what is dropped. */
  readonly pick: PatternStates | undefined;
  readonly drop: PatternStates;
  isFirst: boolean;
}

/** The steps between two yields, and what they cost. */
const STEPS = 1000;
const STEPS_COST = 500;

/**
 * Returns the value at `start`, as bytes, with the fields that are to be kept; undefined if that is
 * all of it.
 */
export function* keepFields(json: JsonBytes, start: number, { pick, drop }: Fields): Sliced<Buffer | undefined> {
  const { text, bytes } = json;
  const out = new BytesOut(bytes.length - start);
  const levels: Level[] = [];
  let steps = 0;
  let at = start;
  const first = text.charCodeAt(start);
  let isWhole = true;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return undefined;
  const wanted = pick.length === 0 ? undefined : pick;
  let level: Level = { isObject: first === OPEN_BRACE, pick: wanted, drop, isFirst: true };
  out.text(level.isObject ? "{" : "[");
  at = skipSpace(text, start + 1);
  for (;;) {
    if (++steps % STEPS === 0) yield STEPS_COST;
    const c = text.charCodeAt(at);
    if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      out.text(level.isObject ? "}" : "]");
      at = skipSpace(text, at + 1);
      const outer = levels.pop();
      if (!outer) return isWhole ? undefined : out.bytes();
      level = outer;
      continue;
    }
    if (c === COMMA) {
      at = skipSpace(text, at + 1);
      continue;
    }
    let key: Span | undefined;
    let inner = at;
    if (level.isObject) {
      key = { start: at, end: yield* skipInSlices(text, at) };
      inner = skipSpace(text, skipSpace(text, key.end) + 1);
    }
    const name = key && byteKey(json, key);
    const dropped = step(level.drop, name);
    let picked = level.pick && step(level.pick, name);
    const begin = text.charCodeAt(inner);
    const isContainer = begin === OPEN_BRACE || begin === OPEN_BRACKET;
    const isGone =
      isMatched(dropped) || (picked !== undefined && !isMatched(picked) && (picked.length === 0 || !isContainer));
    if (isGone) {
      isWhole = false;
      at = skipSpace(text, yield* skipInSlices(text, inner));
      continue;
    }
    if (picked !== undefined && isMatched(picked)) picked = undefined;
    if (!level.isFirst) out.text(",");
    level.isFirst = false;
    if (key) {
      out.span(bytes, key.start, key.end);
      out.text(":");
    }
    if (!isContainer || (picked === undefined && dropped.length === 0)) {
      const end = yield* skipInSlices(text, inner);
      out.span(bytes, inner, end);
      at = skipSpace(text, end);
      continue;
    }
    levels.push(level);
    level = { isObject: begin === OPEN_BRACE, pick: picked, drop: dropped, isFirst: true };
    out.text(level.isObject ? "{" : "[");
    at = skipSpace(text, inner + 1);
  }
}

function step(states: PatternStates, name: string | undefined): PatternStates {
  if (states.length === 0) return states;
  return name === undefined ? inElements(states) : inMember(states, name);
}

/** Returns the value in the span without spaces between its tokens. */
export function* withoutSpaces({ text, bytes }: JsonBytes, { start, end }: Span): Sliced<Buffer> {
  const out = new BytesOut(end - start);
  let from = start;
  let at = start;
  let steps = 0;
  while (at < end) {
    if (++steps % (16 * STEPS) === 0) yield STEPS_COST;
    const c = text.charCodeAt(at);
    if (c === QUOTE) at = yield* skipInSlices(text, at);
    else if (c > SPACE) at++;
    else {
      out.span(bytes, from, at);
      at = skipSpace(text, at);
      from = at;
    }
  }
  if (from === start) return bytes.subarray(start, end);
  out.span(bytes, from, end);
  return out.bytes();
}

/** Longer spans are not copied until the end. */
const LARGEST_PART = 64 * 1024;

/** Collects spans of bytes and short texts. */
class BytesOut {
  readonly #done: Buffer[] = [];
  #part: Buffer;
  #length = 0;

  /** `most`: all that can come. */
  constructor(most: number) {
    this.#part = Buffer.allocUnsafe(Math.min(most, LARGEST_PART));
  }

  text(text: string): void {
    if (this.#length + text.length > this.#part.length) this.#flush();
    this.#length += this.#part.write(text, this.#length, "latin1");
  }

  span(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#length + length > this.#part.length) this.#flush();
    if (length > LARGEST_PART) this.#done.push(bytes.subarray(start, end));
    else this.#length += bytes.copy(this.#part, this.#length, start, end);
  }

  bytes(): Buffer {
    this.#flush();
    return this.#done.length === 1 ? this.#done[0]! : Buffer.concat(this.#done);
  }

  #flush(): void {
    if (this.#length === 0) return;
    this.#done.push(this.#part.subarray(0, this.#length));
    this.#part = Buffer.allocUnsafe(LARGEST_PART);
    this.#length = 0;
  }
}
