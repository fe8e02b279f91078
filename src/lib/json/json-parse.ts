/**
 * Parses a large JSON text in slices. The result is that of `JSON.parse`.
 *
 * Runs of members or elements are parsed natively, one run a step. A container that is longer than
 * a run is entered, so a text needs one step back for each level of such containers; their number
 * has a limit. All other nesting is up to `JSON.parse`, which does not recurse.
 */
import type { Sliced } from "../timing/slices.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { skipBlank } from "./json-scan.ts";
import type { Span } from "./json-text.ts";

/** The bytes of a run, and what they cost if they are all small values. */
const RUN = 32 * 1024;
const RUN_COST = 2000;
/** The most levels of containers that are longer than a run. */
export const LONG_LEVELS = 100;

/** The text is valid so far, and has too many levels to be parsed. */
export class TooDeep extends Error {}

export interface ParseOptions {
  readonly run?: number;
  /** Called with the number of objects and arrays that the next run has. */
  readonly onContainers?: (count: number) => void;
}

/** A container that was entered. */
interface Level {
  readonly value: unknown[] | Record<string, unknown>;
  readonly close: number;
  /** Whether another value must follow: a comma was the last token. */
  isOpen: boolean;
}

/** `bytes` must be valid UTF-8. Throws a SyntaxError if they are not one JSON value. */
export function* parseInSlices(bytes: Buffer, { run = RUN, onContainers }: ParseOptions = {}): Sliced<unknown> {
  const start = skipBlank(bytes, 0, bytes.length);
  const root = levelAt(bytes, start);
  if (!root) return JSON.parse(bytes.toString("utf8"));
  const levels: Level[] = [root];
  let level = root;
  /** Where the next run begins; everything before it is parsed. */
  let from = start + 1;
  /** The last comma of this level since then. */
  let comma = -1;
  let depth = 0;
  /** The objects and arrays since the start of the run, and until the comma. */
  let containers = 0;
  let counted = 0;
  let i = from;
  while (i < bytes.length) {
    const c = bytes[i]!;
    if (c === QUOTE) i = afterString(bytes, i);
    else {
      if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        depth++;
        containers++;
      } else if (c === COMMA && depth === 0) {
        comma = i;
        counted = containers;
      } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
      i++;
    }
    if (depth < 0) {
      onContainers?.(containers);
      addRun(bytes, level, { start: from, end: i - 1 });
      if (level.isOpen || c !== level.close) throw notValid();
      yield RUN_COST;
      levels.pop();
      const outer = levels.at(-1);
      i = skipBlank(bytes, i, bytes.length);
      if (!outer) {
        if (i < bytes.length) throw notValid();
        return root.value;
      }
      level = outer;
      from = i;
      if (bytes[i] === COMMA) {
        level.isOpen = true;
        from = ++i;
      } else if (bytes[i] !== level.close) throw notValid();
    } else if (i - from < run) continue;
    else if (comma !== -1) {
      onContainers?.(counted);
      addRun(bytes, level, { start: from, end: comma });
      level.isOpen = true;
      yield RUN_COST;
      from = i = comma + 1;
    } else if (depth > 0) {
      if (levels.length === LONG_LEVELS) throw new TooDeep(`more than ${LONG_LEVELS} levels`);
      const entered = enter(bytes, level, from);
      level = entered.level;
      levels.push(level);
      onContainers?.(1);
      yield RUN_COST / 20;
      from = i = entered.from;
    } else continue;
    comma = -1;
    depth = 0;
    containers = 0;
  }
  throw notValid();
}

function levelAt(bytes: Buffer, at: number): Level | undefined {
  if (bytes[at] === OPEN_BRACE) return { value: {}, close: CLOSE_BRACE, isOpen: false };
  return bytes[at] === OPEN_BRACKET ? { value: [], close: CLOSE_BRACKET, isOpen: false } : undefined;
}

/** Enters the container that is the next value of the level. Its member or element is at `from`. */
function enter(bytes: Buffer, outer: Level, from: number): { readonly level: Level; readonly from: number } {
  let at = skipBlank(bytes, from, bytes.length);
  let key = "";
  if (!Array.isArray(outer.value)) {
    if (bytes[at] !== QUOTE) throw notValid();
    const end = afterString(bytes, at);
    key = JSON.parse(bytes.toString("utf8", at, end)) as string;
    at = skipBlank(bytes, end, bytes.length);
    if (bytes[at] !== COLON) throw notValid();
    at = skipBlank(bytes, at + 1, bytes.length);
  }
  const level = levelAt(bytes, at);
  if (!level) throw notValid();
  if (Array.isArray(outer.value)) outer.value.push(level.value);
  else put(outer.value, key, level.value);
  outer.isOpen = false;
  return { level, from: at + 1 };
}

/** Adds members or elements to their container. */
function addRun(bytes: Buffer, level: Level, { start, end }: Span): void {
  // Without a comma before it, there may be no value. A comma always needs one, on both sides.
  if (!level.isOpen && skipBlank(bytes, start, end) === end && bytes[end] === level.close) return;
  const text = bytes.toString("utf8", start, end);
  if (Array.isArray(level.value)) {
    const added = JSON.parse(`[${text}]`) as unknown[];
    if (added.length === 0) throw notValid();
    for (const element of added) level.value.push(element);
  } else {
    const added = JSON.parse(`{${text}}`) as Record<string, unknown>;
    let isEmpty = true;
    for (const key in added) {
      put(level.value, key, added[key]);
      isEmpty = false;
    }
    if (isEmpty) throw notValid();
  }
  level.isOpen = false;
}

/** Assigning to `__proto__` would not make a member. */
function put(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") record[key] = value;
  else Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns the position after the closing quote. `from` is at the opening one. */
function afterString(bytes: Buffer, from: number): number {
  const quote = bytes.indexOf(QUOTE, from + 1);
  if (quote === -1) throw notValid();
  let slashes = 0;
  while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
  if (slashes % 2 === 0) return quote + 1;
  // A native search for each of many escaped quotes would be slow.
  for (let i = quote + 1; i < bytes.length; i++) {
    const c = bytes[i];
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i + 1;
  }
  throw notValid();
}

function notValid(): SyntaxError {
  return new SyntaxError("The text is not valid JSON");
}
