/**
 * Reads one message that a server sent, from its bytes.
 *
 * The extracted answer is exactly one JSON value and never includes bytes beside it. The two shapes
 * that nearly every server writes are compared byte for byte around their result. One scan
 * validates the result, and a large result is not decoded. All other shapes are parsed. A message
 * with an ambiguous envelope is `broken`: it answers no request, and the requests that it could
 * belong to fail.
 */

import { MAX_DEPTH, scanValue } from "../json/json-scan.ts";
import { eachMember } from "../json/json-text.ts";
import { textOf } from "../text/utf8.ts";
import { type Answer, answerOf, classify, type Inbound, repeatedMember } from "./json-rpc.ts";

export type Frame =
  | Exclude<Inbound, { kind: "response" }>
  | { readonly kind: "response"; readonly id: string | number; readonly answer: Answer }
  | { readonly kind: "broken"; readonly ids: readonly number[]; readonly reason: string };

/** Answers of at least this size are forwarded as bytes, without decoding. */
const LARGE = 16 * 1024;

const HEAD = '{"jsonrpc":"2.0","id":';
const RESULT_AFTER_ID = ',"result":{';
const RESULT_FIRST = '{"result":{';
const TAIL = /^,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;
const ID = /^(?:0|[1-9]\d{0,14})$/;
/** The longest head or tail that is compared. */
const EDGE = 64;
const CLOSE_BRACE = 125;

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
  return message.kind === "response" ? { kind: "response", id: message.id, answer: answerOf(text) } : message;
}

function plainAnswer(bytes: Buffer): Frame | undefined {
  const head = bytes.toString("latin1", 0, EDGE);
  if (head.startsWith(HEAD)) {
    const comma = head.indexOf(",", HEAD.length);
    const id = head.slice(HEAD.length, comma);
    if (!ID.test(id) || !head.startsWith(RESULT_AFTER_ID, comma)) return undefined;
    const last = bytes.length - 1;
    if (bytes[last] !== CLOSE_BRACE) return undefined;
    const start = comma + RESULT_AFTER_ID.length - 1;
    return scanValue(bytes, start) === last ? resultFrame(Number(id), bytes.subarray(start, last)) : undefined;
  }
  if (head.startsWith(RESULT_FIRST)) {
    const start = RESULT_FIRST.length - 1;
    const end = scanValue(bytes, start);
    if (end === -1 || end + EDGE < bytes.length) return undefined;
    const tail = TAIL.exec(bytes.toString("latin1", end));
    return tail ? resultFrame(Number(tail[1]), bytes.subarray(start, end)) : undefined;
  }
  return undefined;
}

function resultFrame(id: number, result: Buffer): Frame {
  const raw = result.length >= LARGE ? result : result.toString("utf8");
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
