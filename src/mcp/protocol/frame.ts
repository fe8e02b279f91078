/**
 * Reads one message that a server sent, from its bytes.
 *
 * The extracted answer is exactly one JSON value and never includes bytes beside it. The two shapes
 * that nearly every server writes are compared byte for byte around their result. One scan
 * validates the result, and a large result is not decoded. All other shapes are parsed. A message
 * with an ambiguous envelope is `broken`: it answers no request, and the requests that it could
 * belong to fail.
 */

import { BACKSLASH, COMMA, NINE, OPEN_BRACKET, ZERO } from "../../lib/json/characters.ts";
import { MAX_DEPTH, scanInSlices, scanValue, skipBlank } from "../../lib/json/json-scan.ts";
import { eachMember, type Span } from "../../lib/json/json-text.ts";
import { idsAtEdges } from "../../lib/structures/lines.ts";
import { textOf } from "../../lib/text/utf8.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { type Answer, answerOf, classify, type Inbound, repeatedMember } from "./json-rpc.ts";

export interface ResponseFrame {
  readonly kind: "response";
  readonly id: string | number;
  readonly answer: Answer;
}

export type Frame =
  | Exclude<Inbound, { kind: "response" }>
  | ResponseFrame
  | { readonly kind: "broken"; readonly ids: readonly number[]; readonly reason: string };

/** Answers of at least this size are forwarded as bytes, without decoding. */
const LARGE = 16 * 1024;

const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const RESULT_AFTER_ID = Buffer.from(',"result":{');
const RESULT_FIRST = Buffer.from('{"result":{');
const ID_LAST = Buffer.from(',"jsonrpc":"2.0","id":');
const ID = /^(?:0|[1-9]\d{0,14})$/;
const MAX_DIGITS = 15;
/** A longer key is not one of an envelope. */
const EDGE = 64;
const CLOSE_BRACE = 125;

/** Returns undefined if the bytes are not JSON. */
export function frameOf(bytes: Buffer): Frame | undefined {
  try {
    return readFrame(bytes);
  } catch {
    return undefined;
  }
}

/** Throws if the bytes are not JSON. */
export function readFrame(bytes: Buffer): Frame {
  const plain = plainAnswer(bytes);
  if (plain) return plain;
  const text = textOf(bytes);
  const value: unknown = JSON.parse(text);
  // A shorter text cannot be nested that deep.
  if (bytes.length > MAX_DEPTH && scanValue(bytes, text.search(/\S/)) === -1) throw new SyntaxError("nested too deep");
  const message = classify(value, text);
  if (message.kind === "invalid") return isAnswerLike(value) ? brokenFrame(text, message.reason) : message;
  const twice = repeatedMember(text);
  if (twice !== undefined) return brokenFrame(text, `"${twice}" appears in it twice`);
  if (message.kind !== "response") return message;
  return { kind: "response", id: message.id, answer: answerOf(text) };
}

/** Messages above this size must be read in slices. */
export const LARGE_FRAME = 1024 * 1024;
/** Parsing a text with this many commas, brackets and escapes takes a few milliseconds. */
const MANY_MARKS = 100_000;

/**
 * Reads a large message in slices, with the same result as `readFrame`. A result of any shape stays
 * bytes. Anything else that has too many values is refused: parsing it would take seconds.
 */
export function* readLargeFrame(bytes: Buffer): Sliced<Frame> {
  const start = skipBlank(bytes, 0, bytes.length);
  const scanned = yield* scanInSlices(bytes, start);
  if (!scanned || skipBlank(bytes, scanned.end, bytes.length) < bytes.length) throw new SyntaxError("not JSON");
  const { members } = scanned;
  let result: Buffer | undefined;
  let hasMethod = false;
  let rest = bytes;
  for (let m = members.length - 3; m >= 0; m -= 3) {
    const key = keyAt(bytes, members[m]!);
    if (key === "method") hasMethod = true;
    // A short one is left in its place: null has a meaning of its own.
    if (key !== "result" || members[m + 2]! - members[m + 1]! < EDGE) continue;
    result = bytes.subarray(members[m + 1], members[m + 2]);
    rest = Buffer.concat([rest.subarray(0, members[m + 1]), NO_RESULT, rest.subarray(members[m + 2])]);
  }
  if (result === undefined || hasMethod || rest.length > LARGE_FRAME) {
    if (yield* isSparse(bytes)) return readFrame(bytes);
    const ids = hasMethod ? [] : idsAtEdges(bytes);
    return { kind: "broken", ids, reason: "it is large, and has too many values outside of a result" };
  }
  const frame = readFrame(rest);
  if (frame.kind !== "response" || !frame.answer.ok) return frame;
  return { ...frame, answer: { ok: true, raw: result } };
}

/** Whether a message is mostly strings, so that it can be parsed at once. */
function* isSparse(bytes: Buffer): Sliced<boolean> {
  let marks = 0;
  for (let at = 0; at < bytes.length; at += LARGE_FRAME) {
    const part = bytes.subarray(at, at + LARGE_FRAME);
    for (const byte of part) if (byte === COMMA || byte === BACKSLASH || byte === OPEN_BRACKET) marks++;
    if (marks > MANY_MARKS) return false;
    yield 2000;
  }
  return true;
}

const NO_RESULT = Buffer.from("{}");

/** Returns a key that begins here. A key too long for an envelope is not read. */
function keyAt(bytes: Buffer, at: number): string | undefined {
  const key = /^"(?:[^"\\]|\\.)*"/.exec(bytes.toString("latin1", at, at + EDGE))?.[0];
  return key === undefined ? undefined : (JSON.parse(key) as string);
}

function plainAnswer(bytes: Buffer): Frame | undefined {
  const last = bytes.length - 1;
  if (bytes[last] !== CLOSE_BRACE) return undefined;
  if (bytes[2] === HEAD[2]) {
    if (!hasAt(bytes, 0, HEAD)) return undefined;
    const comma = idEnd(bytes, HEAD.length);
    if (comma === -1 || !hasAt(bytes, comma, RESULT_AFTER_ID)) return undefined;
    const start = comma + RESULT_AFTER_ID.length - 1;
    if (scanValue(bytes, start) !== last) return undefined;
    return resultFrame(idAt(bytes, HEAD.length, comma), { bytes, start, end: last });
  }
  if (!hasAt(bytes, 0, RESULT_FIRST)) return undefined;
  const start = RESULT_FIRST.length - 1;
  const end = scanValue(bytes, start);
  if (end === -1 || !hasAt(bytes, end, ID_LAST)) return undefined;
  const digits = end + ID_LAST.length;
  if (idEnd(bytes, digits) !== last) return undefined;
  return resultFrame(idAt(bytes, digits, last), { bytes, start, end });
}

/** Whether the text is at `pos`. */
function hasAt(bytes: Buffer, pos: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[pos + i] !== text[i]) return false;
  return true;
}

/** Returns the position after an id of digits that begins here; -1 if there is none. */
function idEnd(bytes: Buffer, pos: number): number {
  let end = pos;
  while (bytes[end]! >= ZERO && bytes[end]! <= NINE) end++;
  const digits = end - pos;
  const isId = digits > 0 && digits <= MAX_DIGITS && (digits === 1 || bytes[pos] !== ZERO);
  return isId ? end : -1;
}

function idAt(bytes: Buffer, pos: number, end: number): number {
  let id = 0;
  for (let i = pos; i < end; i++) id = id * 10 + bytes[i]! - ZERO;
  return id;
}

interface ResultPlace extends Span {
  readonly bytes: Buffer;
}

function resultFrame(id: number, { bytes, start, end }: ResultPlace): Frame {
  const raw = end - start >= LARGE ? bytes.subarray(start, end) : bytes.toString("utf8", start, end);
  return { kind: "response", id, answer: { ok: true, raw } };
}

/**
 * Whether a request may wait for this message. A message with a method carries the server's own id.
 */
function isAnswerLike(value: unknown): boolean {
  return typeof value === "object" && value !== null && "id" in value && value.id !== null && !("method" in value);
}

function brokenFrame(text: string, reason: string): Frame {
  const ids: number[] = [];
  eachMember(text, 0, (key, start, end) => {
    const value = text.slice(start, end);
    if (key === "id" && ID.test(value)) ids.push(Number(value));
  });
  return { kind: "broken", ids, reason };
}
