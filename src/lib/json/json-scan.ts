/**
 * Validates that bytes hold one JSON value, without decoding or keeping it.
 *
 * It accepts exactly the valid UTF-8 that `JSON.parse` accepts, up to `MAX_DEPTH` levels. It makes
 * one pass and does not recurse. It runs for every answer of every server, so it is written for
 * speed. The functions share only scratch memory, and long strings are skipped four bytes at a
 * time. A long scan can pause between two tokens, or inside of a string.
 */

import { isUtf8 } from "node:buffer";
import type { Sliced } from "../timing/slices.ts";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  LOWER_U,
  MINUS,
  NEWLINE,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  RETURN,
  SPACE,
  TAB,
  ZERO,
} from "./characters.ts";

/** Deeper nesting is not data: it only serves to crash recursive readers. */
export const MAX_DEPTH = 10_000;

/** The bytes that end or interrupt a plain string: quotes, backslashes, control characters. */
const notPlain = tableOf('"\\').fill(1, 0, SPACE);
const escapable = tableOf('"\\/bfnrt');
const hexDigits = tableOf("0123456789abcdefABCDEF");

/** The first bytes of a string are checked one by one; after that, the window is faster. */
const NEAR = 16;
/** Below this size, the window is not worth its copy. */
const LONG = 512;
/** Long strings are copied here, so that their bytes are aligned as words. */
const window = new Uint8Array(64 * 1024);
const words = new Int32Array(window.buffer);

/** For each open level, whether it is an object. Nothing here awaits, so one table is enough. */
const isObject = new Uint8Array(MAX_DEPTH + 1);

/** A value that was scanned in slices. */
export interface Scanned {
  /** The position after it. */
  readonly end: number;
  /** If it is an object: where each key, its value, and the text after the value begin. */
  readonly members: readonly number[];
}

/** The state of a scan that can pause. */
interface Pause {
  at: number;
  depth: number;
  isKey: boolean;
  isInString: boolean;
  levels: Uint8Array;
  /** What the last part cost. */
  cost: number;
  readonly members: number[];
}

const PAUSED = -2;
/** The bytes between two pauses. */
const PART = 128 * 1024;

/**
 * Like `scanValue`, in slices. Returns undefined if the value is not valid, or has a number or a
 * gap between two tokens that is longer than a part.
 */
export function* scanInSlices(bytes: Buffer, from: number): Sliced<Scanned | undefined> {
  if (!isUtf8(bytes)) return undefined;
  const levels = new Uint8Array(0);
  const pause: Pause = { at: from, depth: 0, isKey: false, isInString: false, levels, cost: 0, members: [] };
  for (;;) {
    const end = scan(bytes, pause.at, pause);
    if (end === -1) return undefined;
    if (end !== PAUSED) return { end, members: pause.members };
    yield pause.cost;
  }
}

/** Returns the position after the value whose first byte is at `from`, or -1 if it is not valid. */
export function scanValue(bytes: Buffer, from: number): number {
  return isUtf8(bytes) ? scan(bytes, from) : -1;
}

/** Returns the start of the next token. */
export function skipBlank(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && isBlank(bytes[i]!)) i++;
  return i;
}

function isBlank(c: number): boolean {
  return c <= SPACE && (c === SPACE || c === NEWLINE || c === RETURN || c === TAB);
}

/** With `pause`, the scan continues where it paused, and returns `PAUSED` after the next part. */
function scan(bytes: Buffer, from: number, pause?: Pause): number {
  const end = bytes.length | 0;
  const members = pause?.members;
  const stop = pause ? (from + PART) | 0 : end;
  /** No number and no gap goes farther. */
  let far = end;
  if (pause && stop + PART < end) far = (stop + PART) | 0;
  let depth = 0;
  let isKey = false;
  let isInString = false;
  const isLong = end >= LONG;
  /** The bytes that are in the window. */
  let windowFrom = 0;
  let windowEnd = 0;
  let skipped = 0;
  if (pause) {
    ({ depth, isKey, isInString } = pause);
    isObject.set(pause.levels);
  }
  let i = from | 0;
  for (;;) {
    if (i >= stop && i < end) return paused(pause!, { at: i, depth, isKey, isInString, cost: costOf(skipped) });
    let c = i < end ? bytes[i]! : 0;
    if (c === QUOTE || isInString) {
      if (isInString) isInString = false;
      else {
        if (isKey && depth === 1 && members) members.push(i);
        i++;
      }
      // Without Math.min, which would turn all these variables into floating-point numbers.
      let near = i + NEAR;
      if (near > end || !isLong) near = end;
      if (near > stop) near = stop;
      for (;;) {
        c = 0;
        while (i < near) {
          c = bytes[i]!;
          if (notPlain[c] === 1) break;
          i = (i + 1) | 0;
        }
        if (i >= near) {
          if (i >= end) return -1;
          if (i >= stop) return paused(pause!, { at: i, depth, isKey, isInString: true, cost: costOf(skipped) });
          if (i >= windowEnd) {
            windowFrom = i;
            windowEnd = (i + window.length) | 0;
            if (windowEnd > stop) windowEnd = stop;
            window.set(bytes.subarray(windowFrom, windowEnd));
          }
          const begun = i;
          i = (windowFrom + skipPlain(i - windowFrom, windowEnd - windowFrom)) | 0;
          skipped = (skipped + i - begun) | 0;
          if (i >= windowEnd) continue;
          c = bytes[i]!;
        }
        i++;
        if (c === QUOTE) break;
        if (c !== BACKSLASH) return -1;
        c = i < end ? bytes[i]! : 0;
        if (escapable[c] === 1) i++;
        else if (c === LOWER_U && hasHexDigits(bytes, i + 1, end)) i += 5;
        else return -1;
      }
      if (isKey) {
        isKey = false;
        i = skipBlank(bytes, i, far);
        if (i >= end || bytes[i] !== COLON) return -1;
        i = skipBlank(bytes, i + 1, far);
        if (depth === 1 && members) members.push(i);
        continue;
      }
    } else if (isKey) return -1;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth++;
      if (depth > MAX_DEPTH) return -1;
      isObject[depth] = c === OPEN_BRACE ? 1 : 0;
      i = skipBlank(bytes, i + 1, far);
      if (i >= end) return -1;
      // A closing bracket's code is its opening bracket's code plus two.
      if (bytes[i] !== c + 2) {
        isKey = c === OPEN_BRACE;
        continue;
      }
      depth--;
      i++;
    } else {
      i = c >= MINUS && c <= NINE ? afterNumber(bytes, i, far) : afterLiteral(bytes, i);
      if (i === -1) return -1;
    }
    // A value ends here, and possibly the levels around it.
    for (;;) {
      if (depth === 0) return i;
      if (depth === 1 && members && members.length % 3 === 2) members.push(i);
      c = i < end ? bytes[i]! : 0;
      if (c === COMMA) {
        i = skipBlank(bytes, i + 1, far);
        isKey = isObject[depth] === 1;
        break;
      }
      if (c === (isObject[depth] === 1 ? CLOSE_BRACE : CLOSE_BRACKET)) depth--;
      else if (!isBlank(c) || i >= far) return -1;
      i++;
    }
  }
}

/** Nearly every byte may be a token, but those that were skipped cost little. */
function costOf(skipped: number): number {
  return ((PART - skipped) >> 6) + (skipped >> 9);
}

/**
 * Returns the position of the first byte in the window, from `at` to `end`, that ends or interrupts
 * a plain string, or else `end`.
 */
function skipPlain(at: number, end: number): number {
  let i = at;
  while (i < end) {
    if ((i & 3) === 0) {
      let k = i >> 2;
      while (k < end >> 2 && isPlainWord(words[k]!)) k = (k + 1) | 0;
      i = k << 2;
      if (i >= end) return end;
    }
    if (notPlain[window[i]!] === 1) return i;
    i = (i + 1) | 0;
  }
  return end;
}

/**
 * Whether none of four bytes is a control character, a quote or a backslash. To subtract n from a
 * byte below 128 sets its highest bit if the byte is smaller than n. A borrow from the byte next to
 * it can only make a plain word look like another one, and never the reverse.
 */
function isPlainWord(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const controls = (word - 0x20202020) & ~word;
  const others = ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return ((controls | others) & 0x80808080) === 0;
}

function paused(pause: Pause, state: Omit<Pause, "levels" | "members">): number {
  Object.assign(pause, state);
  pause.levels = isObject.slice(0, state.depth + 1);
  return PAUSED;
}

/** Whether four hex digits begin at `at`. */
function hasHexDigits(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 4 > end) return false;
  for (let i = at; i < at + 4; i++) if (hexDigits[bytes[i]!] === 0) return false;
  return true;
}

function afterLiteral(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case LOWER_T:
      return afterWord(bytes, at, "true");
    case LOWER_F:
      return afterWord(bytes, at, "false");
    case LOWER_N:
      return afterWord(bytes, at, "null");
    default:
      return -1;
  }
}

function afterWord(bytes: Uint8Array, at: number, word: string): number {
  if (at + word.length > bytes.length) return -1;
  for (let i = 1; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return -1;
  return at + word.length;
}

function afterNumber(bytes: Uint8Array, at: number, end: number): number {
  let i = bytes[at] === MINUS ? at + 1 : at;
  const whole = i;
  i = skipDigits(bytes, i, end);
  if (i === whole || (bytes[whole] === ZERO && i > whole + 1)) return -1;
  if (i < end && bytes[i] === DOT) {
    const fraction = i + 1;
    i = skipDigits(bytes, fraction, end);
    if (i === fraction) return -1;
  }
  // An upper-case letter's code is 32 below its lower-case one.
  if (i < end && (bytes[i]! | 32) === LOWER_E) {
    i++;
    if (i < end && (bytes[i] === PLUS || bytes[i] === MINUS)) i++;
    const exponent = i;
    i = skipDigits(bytes, exponent, end);
    if (i === exponent) return -1;
  }
  return i;
}

function skipDigits(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && bytes[i]! >= ZERO && bytes[i]! <= NINE) i++;
  return i;
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
