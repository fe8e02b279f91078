/**
 * Leaves fields out of JSON, and spaces. What is kept keeps its own characters: numbers and strings
 * are never read and written again.
 *
 * The bytes must be valid JSON. Nothing recurses, and the work is done in slices.
 */
import type { Sliced } from "../../timing/slices.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from "../characters.ts";
import type { Span } from "../json-text.ts";
import { afterComma, skipLong, skipShort, skipSpaces, valueAfter } from "./byte-values.ts";
import { compilePatterns, inElements, inMember, isMatched, type PatternStates } from "./field-patterns.ts";
import { byteKey, joinInSlices } from "./json-bytes.ts";

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
const STEPS = 500;
const STEPS_COST = 500;

/**
 * Returns the value at `start` with the fields that are to be kept; undefined if that is all of it.
 */
export function* keepFields(bytes: Buffer, start: number, { pick, drop }: Fields): Sliced<Buffer | undefined> {
  const first = bytes[start];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return undefined;
  const out = new BytesOut(bytes.length - start);
  const levels: Level[] = [];
  const wanted = pick.length === 0 ? undefined : pick;
  let level: Level = { isObject: first === OPEN_BRACE, pick: wanted, drop, isFirst: true };
  let isWhole = true;
  let steps = 0;
  let at = skipSpaces(bytes, start + 1);
  out.text(level.isObject ? "{" : "[");
  for (;;) {
    if (++steps % STEPS === 0) yield STEPS_COST;
    const c = bytes[at];
    if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      out.text(level.isObject ? "}" : "]");
      const outer = levels.pop();
      if (!outer) return isWhole ? undefined : yield* joinInSlices(out.parts());
      level = outer;
      at = afterComma(bytes, at + 1);
      continue;
    }
    let key: Span | undefined;
    let inner = at;
    if (level.isObject) {
      let end = skipShort(bytes, at);
      if (end === -1) end = yield* skipLong(bytes, at);
      key = { start: at, end };
      inner = valueAfter(bytes, end);
    }
    const name = key && byteKey(bytes, key);
    const dropped = step(level.drop, name);
    let picked = level.pick && step(level.pick, name);
    const begin = bytes[inner];
    const isContainer = begin === OPEN_BRACE || begin === OPEN_BRACKET;
    if (picked !== undefined && isMatched(picked)) picked = undefined;
    const isGone = isMatched(dropped) || (picked !== undefined && (picked.length === 0 || !isContainer));
    if (!isGone) {
      if (!level.isFirst) out.text(",");
      level.isFirst = false;
      if (key) out.span(bytes, key.start, key.end);
      if (key) out.text(":");
    }
    if (isGone || !isContainer || (picked === undefined && dropped.length === 0)) {
      let end = skipShort(bytes, inner);
      if (end === -1) end = yield* skipLong(bytes, inner);
      if (isGone) isWhole = false;
      else out.span(bytes, inner, end);
      at = afterComma(bytes, end);
      continue;
    }
    levels.push(level);
    level = { isObject: begin === OPEN_BRACE, pick: picked, drop: dropped, isFirst: true };
    out.text(level.isObject ? "{" : "[");
    at = skipSpaces(bytes, inner + 1);
  }
}

function step(states: PatternStates, name: string | undefined): PatternStates {
  if (states.length === 0) return states;
  return name === undefined ? inElements(states) : inMember(states, name);
}

/** The bytes between two yields, and their cost. */
const PART = 64 * 1024;
const PART_COST = 300;

/** Returns the value in the span without spaces between its tokens. */
export function* withoutSpaces(bytes: Buffer, { start, end }: Span): Sliced<Buffer> {
  let out: BytesOut | undefined;
  let from = start;
  let at = start;
  let pause = start + PART;
  while (at < end) {
    const c = bytes[at]!;
    if (c === QUOTE) {
      const after = skipShort(bytes, at);
      at = after === -1 ? yield* skipLong(bytes, at) : after;
    } else if (c > SPACE) at++;
    else {
      out ??= new BytesOut(end - start);
      out.span(bytes, from, at);
      at = Math.min(skipSpaces(bytes, at), end);
      from = at;
    }
    if (at < pause) continue;
    yield PART_COST;
    pause = at + PART;
  }
  if (!out) return bytes.subarray(start, end);
  out.span(bytes, from, end);
  return yield* joinInSlices(out.parts());
}

/** Longer spans are not copied until the end. */
const MAX_PART_SIZE = 64 * 1024;

/** Collects spans of bytes and short texts. */
class BytesOut {
  readonly #done: Buffer[] = [];
  #part: Buffer;
  #length = 0;

  /** `most`: all that can come. */
  constructor(most: number) {
    this.#part = Buffer.allocUnsafe(Math.min(most, MAX_PART_SIZE));
  }

  text(text: string): void {
    if (this.#length + text.length > this.#part.length) this.#flush();
    this.#length += this.#part.write(text, this.#length, "latin1");
  }

  span(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#length + length > this.#part.length) this.#flush();
    if (length > MAX_PART_SIZE) this.#done.push(bytes.subarray(start, end));
    else this.#length += bytes.copy(this.#part, this.#length, start, end);
  }

  parts(): readonly Buffer[] {
    this.#flush();
    return this.#done;
  }

  #flush(): void {
    if (this.#length === 0) return;
    this.#done.push(this.#part.subarray(0, this.#length));
    this.#part = Buffer.allocUnsafe(MAX_PART_SIZE);
    this.#length = 0;
  }
}
