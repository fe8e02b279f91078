/**
 * Edits JSON text in place: finds the span of a member or element and replaces only those
 * characters.
 *
 * Parsing and serialising would lose values that JavaScript cannot hold, such as integers past
 * 2^53, -0, 1.0 and duplicate keys. Replacing a span of the original text loses nothing. The text
 * must be valid JSON: callers have run `JSON.parse` on it, or the gateway wrote it. Nothing here
 * validates.
 */
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./characters.ts";
import { canSkipLong, skipLong } from "./skip-long.ts";
import type { Wanted } from "./wanted.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Edit extends Span {
  readonly text: string;
}

/** From this length on, the end of a container is searched in another way. */
const LONG = 8 * 1024;

export function skipSpace(text: string, pos: number): number {
  let i = pos;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return i;
    i++;
  }
}

/** Returns the position after the closing quote. `pos` is at the opening one. */
function skipString(text: string, pos: number): number {
  let close = text.indexOf('"', pos + 1);
  while (close !== -1) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close + 1;
    close = text.indexOf('"', close + 1);
  }
  return text.length;
}

/** Returns the position after the value that starts at `pos`. */
export function skipValue(text: string, pos: number): number {
  const first = text.charCodeAt(pos);
  if (first === QUOTE) return skipString(text, pos);
  let i = pos;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    for (; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === COMMA || c === CLOSE_BRACE || c === CLOSE_BRACKET || c <= 32) break;
    }
    return i;
  }
  let depth = 0;
  while (i < text.length) {
    if (i - pos > LONG && canSkipLong) return skipLong(text, i, depth);
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = skipString(text, i);
      continue;
    }
    i++;
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if ((c === CLOSE_BRACE || c === CLOSE_BRACKET) && --depth === 0) break;
  }
  return i;
}

/**
 * The member that `nextMember` read last. Kept here rather than returned: this runs several times
 * for every message, and one object per member would be most of the cost. Nothing awaits in
 * between, so no other caller can change it.
 */
let keyStart = 0;
let keyEnd = 0;
let valueStart = 0;
let valueEnd = 0;

/** Returns the start of the first member of the object at `pos`, or -1 if there is no object. */
function firstMember(text: string, pos: number): number {
  const open = skipSpace(text, pos);
  return text.charCodeAt(open) === OPEN_BRACE ? skipSpace(text, open + 1) : -1;
}

/**
 * Reads the member at `pos`. Returns the start of the next one, -1 after the last, or undefined if
 * there is no member here.
 */
function nextMember(text: string, pos: number): number | undefined {
  if (!readKey(text, pos)) return undefined;
  valueEnd = skipValue(text, valueStart);
  return memberAfter(text, valueEnd);
}

/** Reads the key of the member at `pos`, up to the start of its value. */
function readKey(text: string, pos: number): boolean {
  if (pos < 0 || text.charCodeAt(pos) !== QUOTE) return false;
  keyStart = pos;
  keyEnd = skipString(text, pos);
  const colon = skipSpace(text, keyEnd);
  if (text.charCodeAt(colon) !== COLON) return false;
  valueStart = skipSpace(text, colon + 1);
  return true;
}

/** Returns the start of the member after a value that ends at `end`, or -1 if it was the last. */
function memberAfter(text: string, end: number): number {
  const comma = skipSpace(text, end);
  return text.charCodeAt(comma) === COMMA ? skipSpace(text, comma + 1) : -1;
}

/** Whether the member read last has this key. A key with escapes is decoded first. */
function keyIs(text: string, key: string): boolean {
  const length = keyEnd - keyStart - 2;
  if (length === key.length) return text.startsWith(key, keyStart + 1) || (hasEscape(text) && lastKey(text) === key);
  return length > key.length && hasEscape(text) && lastKey(text) === key;
}

function hasEscape(text: string): boolean {
  for (let i = keyStart + 1; i < keyEnd - 1; i++) if (text.charCodeAt(i) === BACKSLASH) return true;
  return false;
}

function lastKey(text: string): string {
  return hasEscape(text) ? (JSON.parse(text.slice(keyStart, keyEnd)) as string) : text.slice(keyStart + 1, keyEnd - 1);
}

/**
 * Calls `visit` for each member of the object at `pos`, in order. Does nothing if there is no
 * object.
 */
export function eachMember(text: string, pos: number, visit: (key: string, start: number, end: number) => void): void {
  let at = firstMember(text, pos);
  for (;;) {
    const next = nextMember(text, at);
    if (next === undefined) return;
    visit(lastKey(text), valueStart, valueEnd);
    if (next < 0) return;
    at = next;
  }
}

/** Returns the span of a member's value. The last of duplicate keys counts, as in `JSON.parse`. */
export function memberSpan(text: string, pos: number, key: string): Span | undefined {
  let start = -1;
  let end = -1;
  let at = firstMember(text, pos);
  for (;;) {
    const next = nextMember(text, at);
    if (next === undefined) break;
    if (keyIs(text, key)) {
      start = valueStart;
      end = valueEnd;
    }
    if (next < 0) break;
    at = next;
  }
  return start < 0 ? undefined : { start, end };
}

/**
 * Finds members of the object at `pos`, and those wanted inside of them, in one pass. Returns the
 * position after the object, or -1 if a key is ambiguous (`wanted.ambiguous`).
 */
export function locate(text: string, pos: number, wanted: Wanted): number {
  wanted.clear();
  let at = firstMember(text, pos);
  for (;;) {
    if (!readKey(text, at)) return at + 1;
    const k = lastKeyIn(text, wanted.keys);
    if (k === -1 && wanted.refusesLookalikes && !wanted.passes(lastKey(text))) return -1;
    const start = valueStart;
    const inner = k === -1 ? undefined : wanted.inside(k);
    let end: number;
    if (inner && text.charCodeAt(start) === OPEN_BRACE) {
      end = locate(text, start, inner);
      if (end === -1) {
        wanted.endedInside(k);
        return -1;
      }
    } else end = skipValue(text, start);
    if (k !== -1 && !wanted.found(k, start, end)) return -1;
    at = memberAfter(text, end);
    if (at < 0) return skipSpace(text, end) + 1;
  }
}

/** Returns the index of the key that the member read last has, or -1. */
function lastKeyIn(text: string, keys: readonly string[]): number {
  const length = keyEnd - keyStart - 2;
  for (let k = 0; k < keys.length; k++) {
    if (keys[k]!.length === length && text.startsWith(keys[k]!, keyStart + 1)) return k;
  }
  return hasEscape(text) ? keys.indexOf(lastKey(text)) : -1;
}

/** Returns the raw text of a member's value. */
export function memberText(text: string, key: string): string | undefined {
  const span = memberSpan(text, 0, key);
  return span && text.slice(span.start, span.end);
}

/**
 * Returns the spans of the first `most` elements of the array at `pos`; empty if there is no array.
 */
export function elementSpans(text: string, pos: number, most = Number.POSITIVE_INFINITY): Span[] {
  const spans: Span[] = [];
  let i = skipSpace(text, pos);
  if (text.charCodeAt(i) !== OPEN_BRACKET) return spans;
  i = skipSpace(text, i + 1);
  while (i < text.length && text.charCodeAt(i) !== CLOSE_BRACKET && spans.length < most) {
    const end = skipValue(text, i);
    spans.push({ start: i, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) !== COMMA) break;
    i = skipSpace(text, i + 1);
  }
  return spans;
}

/** Applies edits that do not overlap, in any order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const sorted = edits.length === 1 ? edits : [...edits].sort((a, b) => a.start - b.start);
  let out = "";
  let from = 0;
  for (const edit of sorted) {
    out += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return out + text.slice(from);
}

/**
 * Inserts members before an object's own; `members` is JSON text without braces, such as
 * `"a":1,"b":2`.
 */
export function prependMembers(objectText: string, members: string): string {
  const open = skipSpace(objectText, 0);
  const next = skipSpace(objectText, open + 1);
  const comma = objectText.charCodeAt(next) === CLOSE_BRACE ? "" : ",";
  return `${objectText.slice(0, open + 1)}${members}${comma}${objectText.slice(open + 1)}`;
}

/**
 * Replaces a member's value, or inserts the member first. `value` is JSON text. Replaces all
 * duplicates: the next reader may pick another one, and must not find a value that the gateway has
 * not checked.
 */
export function setMember(objectText: string, key: string, value: string): string {
  let out = "";
  let from = 0;
  let at = firstMember(objectText, 0);
  for (;;) {
    const next = nextMember(objectText, at);
    if (next === undefined) break;
    if (keyIs(objectText, key)) {
      out += objectText.slice(from, valueStart) + value;
      from = valueEnd;
    }
    if (next < 0) break;
    at = next;
  }
  return from > 0 ? out + objectText.slice(from) : prependMembers(objectText, `${JSON.stringify(key)}:${value}`);
}

/** Returns the object without the members for which `drop` returns true. */
export function dropMembers(objectText: string, drop: (key: string) => boolean): string {
  let dropped = false;
  eachMember(objectText, 0, (key) => {
    dropped ||= drop(key);
  });
  // Most objects have none of them.
  if (!dropped) return objectText;
  let kept = "";
  eachMember(objectText, 0, (key, start, end) => {
    if (!drop(key)) kept += `${kept ? "," : ""}${JSON.stringify(key)}:${objectText.slice(start, end)}`;
  });
  return `{${kept}}`;
}

/** Like `dropMembers`, but the characters of all other members stay as they are. */
export function cutMembers(objectText: string, cut: (key: string) => boolean): string {
  const kept: string[] = [];
  let from = skipSpace(objectText, 0) + 1;
  const head = objectText.slice(0, from);
  let isCut = false;
  eachMember(objectText, 0, (key, _start, end) => {
    const comma = skipSpace(objectText, end);
    if (cut(key)) isCut = true;
    else kept.push(objectText.slice(from, comma));
    from = comma + 1;
  });
  return isCut ? `${head}${kept.join(",")}${objectText.slice(from - 1)}` : objectText;
}

/**
 * Returns the same JSON on one line, for line-based transports. JSON strings never contain raw line
 * breaks.
 */
export function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

/**
 * Returns any JSON value as display text. `String` would throw on an object with a member
 * `toString`.
 */
export function toDisplayText(value: unknown): string {
  return typeof value === "string" ? value : String(JSON.stringify(value));
}
