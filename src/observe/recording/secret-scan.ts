/**
 * Finds the places in JSON that may hold a secret, and line breaks: one pass over bytes, without
 * decoding them.
 *
 * Invariant: it is never wrong about a no. Where masking would change something (`masked` in
 * `telemetry/audit-mask.ts`, or a known secret), it says yes; a closer look decides then.
 *
 * It looks at every other pair of bytes. Of any three bytes in a row, one such pair covers the
 * first two or the last two, so each pattern is three bytes, and both of its pairs are in a table.
 */
import { BACKSLASH, COLON, LOWER_U, NEWLINE, QUOTE } from "../../lib/json/characters.ts";
import { skipBlank } from "../../lib/json/json-scan.ts";
import { BEGINNINGS } from "../../lib/text/secrets/formats.ts";

/** Looks around three bytes that begin at `at`. Returns whether they may be part of a secret. */
type Check = (bytes: Uint8Array, at: number, end: number) => boolean;

/** A check for three letters. `next`: the place of the next one that may be for them; 0: none. */
interface Group {
  readonly key: number;
  readonly check: Check;
  readonly next: number;
}

/** Bytes to look at, and the same memory as pairs of bytes. */
export interface Scanned {
  readonly bytes: Uint8Array;
  readonly pairs: Uint16Array;
}

/** What a pair of bytes may be in: a pattern, or a line break or an escape. */
const LETTERS = 1;
const MARK = 2;
/** The lower seven bits of both bytes of a pair. */
const PAIR_BITS = 0x7f7f;
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const SLASH = 47;
const SPACE = 32;
const UPPER_E = 69;
/** Of the names of secrets: three letters that are in each. `key` has a rule of its own. */
const IN_NAMES = ["ass", "pwd", "ecr", "oke", "aut", "ede", "oki"];
/** What follows the first three letters of values that are likely secrets. */
const VALUES: Readonly<Record<string, RegExp>> = {
  ghp: /^[-_]/,
  gho: /^[-_]/,
  ghs: /^[-_]/,
  _pa: /^t[-_]/i,
  glp: /^at[-_]/i,
  xox: /^[abprs][-_]/i,
  gob: /^lin[-_]/i,
};
/** Short ones are parts of many words, so they count only where a word begins. */
const SHORT = ["sk-", "sk_", "pk-", "pk_", "rk-", "rk_", ...BEGINNINGS.filter(({ length }) => length === 3)];
const MAX_REST_LENGTH = 12;
const PROGRESS_TOKEN = Buffer.from('"progressToken"');
const TOKEN_AT = '"progressT'.length;

export class SecretScan {
  /**
   * For each pair of bytes, as a number: whether it may be in a pattern. By their lower seven bits,
   * so that the table stays in the CPU's cache.
   */
  readonly #pairs = new Uint8Array(PAIR_BITS + 1);
  /** Checks for three letters. Place 1 is the first. */
  readonly #groups: Group[] = [];
  /** The place of the newest check for three bytes, by the lower five bits of each; 0: none. */
  readonly #threes = new Uint16Array(1 << 15);
  /** Whether JSON escapes a secret, so that JSON in a string escapes these escapes. */
  readonly #hasEscapes: boolean;

  constructor(secrets: readonly string[]) {
    this.#hasEscapes = secrets.some((secret) => JSON.stringify(secret) !== `"${secret}"`);
    for (const letters of IN_NAMES) this.#add(letters, isNamed);
    this.#add("key", isKeyName);
    for (const [letters, rest] of Object.entries(VALUES)) this.#add(letters, followedBy(rest));
    for (const text of BEGINNINGS) {
      const rest = text.slice(3).replace(".", "\\.");
      if (text === "eyJ" || rest !== "") this.#add(text.slice(0, 3), followedBy(new RegExp(`^${rest}`, "i")));
    }
    for (const letters of SHORT) this.#add(letters, isBeginning);
    for (const secret of secrets) {
      // As JSON has it; other spellings have escapes, which are found as such.
      const form = Buffer.from(JSON.stringify(secret).slice(1, -1));
      if (form.length >= 3) this.#add(form.toString("latin1", 0, 3), isExactly(form));
    }
    // A message may not end its line.
    for (let other = 0; other < 128; other++) {
      this.#pairs[pairOf(other, NEWLINE)] = MARK;
      this.#pairs[pairOf(NEWLINE, other)] = MARK;
    }
    // Escapes may spell anything. One that is not at the first byte of a pair is at the second.
    this.#pairs[pairOf(BACKSLASH, LOWER_U)] = MARK;
    this.#pairs[pairOf(BACKSLASH, SLASH)] = MARK;
    for (let first = 0; first < 128; first++) this.#pairs[pairOf(first, BACKSLASH)] = MARK;
  }

  #add(letters: string, check: Check): void {
    const [a, b, c] = [0, 1, 2].map((at) => spellings(letters.charCodeAt(at)));
    for (const [firsts, seconds] of [
      [a!, b!],
      [b!, c!],
    ]) {
      for (const first of firsts!) for (const second of seconds!) this.#pairs[pairOf(first, second)] = LETTERS;
    }
    const [first, second, third] = [a![0]!, b![0]!, c![0]!];
    const place = threeOf(first, second, third);
    const key = keyOf(first, second, third);
    const next = this.#threes[place]!;
    this.#groups.push({ key, check, next });
    this.#threes[place] = this.#groups.length;
  }

  /** Whether one of these bytes may be part of a secret. */
  finds({ bytes, pairs }: Scanned, from: number, end: number): boolean {
    const known = this.#pairs;
    // The first pair may begin a byte early, and the last end a byte late, which does no harm.
    const last = (end + 1) >>> 1;
    for (let pair = from >>> 1; pair < last; pair = (pair + 1) | 0) {
      const kind = known[pairs[pair]! & PAIR_BITS]!;
      if (kind === 0) continue;
      // The first pair may begin before the bytes.
      const at = Math.max(pair * 2, from);
      if (kind === MARK && isMark(bytes, at, end, this.#hasEscapes)) return true;
      if (this.#holds(bytes, at - 1, end) || this.#holds(bytes, at, end)) return true;
    }
    return false;
  }

  #holds(bytes: Uint8Array, at: number, end: number): boolean {
    if (at < 0 || at + 3 > end) return false;
    let group = this.#threes[threeOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)]!;
    if (group === 0) return false;
    const key = keyOf(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!);
    while (group !== 0) {
      const known = this.#groups[group - 1]!;
      if (known.key === key && known.check(bytes, at, end)) return true;
      group = known.next;
    }
    return false;
  }
}

/** In a name, or in a text with quotes, which may be JSON again. */
function isNamed(bytes: Uint8Array, at: number, end: number): boolean {
  let quote = at + 3;
  while (quote < end && bytes[quote] !== QUOTE) quote++;
  if (bytes[quote - 1] === BACKSLASH) return true;
  const next = skipBlank(bytes, quote + 1, end);
  return next < end && bytes[next] === COLON && !isProgressToken(bytes, at);
}

/** The one name of MCP's own that looks like a secret's. */
function isProgressToken(bytes: Uint8Array, at: number): boolean {
  const start = at - TOKEN_AT;
  return PROGRESS_TOKEN.every((byte, index) => bytes[start + index] === byte);
}

/** api-key, access_key, privateKey, and the head of a private key. */
function isKeyName(bytes: Uint8Array, at: number, end: number): boolean {
  const before = bytes[at - 1] ?? 0;
  if (before === SPACE) return bytes[at - 2] === UPPER_E;
  return "iseISE-_".includes(String.fromCharCode(before)) && isNamed(bytes, at, end);
}

function followedBy(rest: RegExp): Check {
  return (bytes, at) => rest.test(String.fromCharCode(...bytes.subarray(at + 3, at + 3 + MAX_REST_LENGTH)));
}

function isBeginning(bytes: Uint8Array, at: number): boolean {
  return !isWord(bytes[at - 1] ?? 0) || bytes[at - 2] === BACKSLASH;
}

function isExactly(form: Uint8Array): Check {
  return (bytes, at) => form.every((byte, index) => bytes[at + index] === byte);
}

function isWord(byte: number): boolean {
  const letter = byte | 32;
  return (letter >= 97 && letter <= 122) || (byte >= 48 && byte <= 57);
}

/** A pair as this machine reads it. */
function pairOf(first: number, second: number): number {
  return (IS_LITTLE ? first | (second << 8) : (first << 8) | second) & PAIR_BITS;
}

/** The lower five bits of three bytes: the same for both cases of a letter. */
function threeOf(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

/** Three letters as a number, whatever their case. */
function keyOf(first: number, second: number, third: number): number {
  return (folded(first) << 16) | (folded(second) << 8) | folded(third);
}

/** Whether a line break is here, or an escape that may spell anything. */
function isMark(bytes: Uint8Array, at: number, end: number, countsBackslashes: boolean): boolean {
  if (bytes[at] === NEWLINE || (bytes[at + 1] === NEWLINE && at + 1 < end)) return true;
  const isFirst = bytes[at] === BACKSLASH;
  if (!isFirst && bytes[at + 1] !== BACKSLASH) return false;
  const escaped = bytes[isFirst ? at + 1 : at + 2];
  return escaped === LOWER_U || escaped === SLASH || (countsBackslashes && escaped === BACKSLASH);
}

function folded(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte | 32 : byte;
}

/** Both cases of a letter. */
function spellings(byte: number): readonly number[] {
  const letter = byte | 32;
  return letter >= 97 && letter <= 122 && byte < 128 ? [letter, letter & ~32] : [byte];
}
