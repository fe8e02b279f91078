/**
 * Reads one message that a server sent, from its bytes.
 *
 * Small messages are parsed, which proves them valid. A large one that is plainly an answer (the id
 * stands right behind the head, or right before the end) is taken apart at those places and never
 * decoded; every other shape is parsed. A slice that is taken from between head and end may hold
 * members that follow `result`; since the envelope that is written around it ends in `}` as the
 * original did, these pass too.
 */
import { type Answer, answerOf, classify, type Inbound } from "./json-rpc.ts";

export type Frame =
  | Exclude<Inbound, { kind: "response" }>
  | { readonly kind: "response"; readonly id: string | number; readonly answer: Answer };

/** From this size on, an answer's bytes are passed on without being decoded. */
const LARGE = 16 * 1024;

const HEAD = '{"jsonrpc":"2.0","id":';
const RESULT_AFTER_ID = ',"result":{';
const RESULT_FIRST = '{"result":{';
const TAIL = ',"jsonrpc":"2.0","id":';

export function readFrame(bytes: Buffer): Frame {
  if (bytes.length >= LARGE) {
    const large = readLargeAnswer(bytes);
    if (large) return large;
  }
  const text = bytes.toString("utf8");
  const value: unknown = JSON.parse(text);
  const message = classify(value, text);
  if (message.kind !== "response") return message;
  const bare = Object.keys(value as object).length === 3;
  return { kind: "response", id: message.id, answer: (bare && quickResult(text, message.id)) || answerOf(text) };
}

/**
 * The two shapes that nearly every server writes, cut out without a scan; the text was parsed
 * before.
 */
function quickResult(text: string, id: string | number): Answer | undefined {
  if (typeof id !== "number") return undefined;
  const tail = `${TAIL}${id}}`;
  if (text.startsWith(RESULT_FIRST) && text.endsWith(tail)) {
    return { ok: true, raw: text.slice(RESULT_FIRST.length - 1, text.length - tail.length) };
  }
  const head = `${HEAD}${id}${RESULT_AFTER_ID}`;
  if (text.startsWith(head) && text.endsWith("}}")) return { ok: true, raw: text.slice(head.length - 1, -1) };
  return undefined;
}

function readLargeAnswer(bytes: Buffer): Frame | undefined {
  const head = bytes.toString("latin1", 0, 64);
  if (head.startsWith(HEAD)) {
    const after = head.indexOf(",", HEAD.length);
    const id = integer(head.slice(HEAD.length, after));
    if (id === undefined || !head.startsWith(RESULT_AFTER_ID, after)) return undefined;
    if (bytes.toString("latin1", bytes.length - 2) !== "}}") return undefined;
    return large(id, bytes.subarray(after + RESULT_AFTER_ID.length - 1, bytes.length - 1));
  }
  if (head.startsWith(RESULT_FIRST)) {
    const end = bytes.toString("latin1", bytes.length - 64);
    const at = end.lastIndexOf(TAIL);
    if (at < 1 || !end.endsWith("}") || end[at - 1] !== "}") return undefined;
    const id = integer(end.slice(at + TAIL.length, -1));
    if (id === undefined) return undefined;
    return large(id, bytes.subarray(RESULT_FIRST.length - 1, bytes.length - (end.length - at)));
  }
  return undefined;
}

function integer(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function large(id: number, raw: Buffer): Frame {
  return { kind: "response", id, answer: { ok: true, raw } };
}
