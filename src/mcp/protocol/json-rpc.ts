/**
 * JSON-RPC 2.0 envelopes: reads one message, and writes requests, answers and notifications around
 * raw JSON.
 *
 * Results and errors pass through the gateway as their original JSON text (`Raw`: a string, or the
 * bytes of a large one). So nothing in them is lost or parsed twice. Only the envelope is the
 * gateway's own.
 */

import { applyEdits, locate, memberSpan, memberText, prependMembers, type Span } from "../../lib/json/json-text.ts";
import { type AmbiguousKey, Wanted } from "../../lib/json/wanted.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION } from "./envelope.ts";
import { asGoblinError, type ErrorCode, type ErrorReason, errorTable, GoblinError } from "./errors.ts";

export type Id = string | number;
export type Raw = string | Buffer;
export type Params = Readonly<Record<string, unknown>>;

/** The end of a request: the raw JSON of its result, or of its error object. */
export type Answer = { readonly ok: true; readonly raw: Raw } | ErrorAnswer;

export interface ErrorAnswer {
  readonly ok: false;
  readonly raw: string;
  readonly code: number;
  /** The gateway's own code, if the gateway made the error. */
  readonly symbol?: ErrorCode;
  readonly reason?: ErrorReason | undefined;
  /** The server surely did not act on the request, so that it may be sent again. */
  readonly unsent?: boolean;
}

export type Inbound =
  | {
      readonly kind: "request";
      readonly id: Id;
      readonly method: string;
      readonly params: Params;
      readonly text: string;
    }
  | { readonly kind: "notification"; readonly method: string; readonly params: Params; readonly text: string }
  | { readonly kind: "response"; readonly id: Id; readonly text: string }
  | { readonly kind: "invalid"; readonly id: Id | null; readonly reason: string };

/** For an error of a server that gives none. */
const NO_CODE = errorTable.INTERNAL_ERROR.rpc;
const NO_PARAMS: Params = Object.freeze({});

/** An integer that a number cannot hold would come back as another one. */
function isId(value: unknown): value is Id {
  if (typeof value === "string") return true;
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Classifies a parsed message. `text` is its JSON text. */
export function classify(value: unknown, text: string): Inbound {
  if (!isRecord(value)) return { kind: "invalid", id: null, reason: "a message must be a JSON object" };
  const id = value["id"];
  const answerId = isId(id) ? id : null;
  if (value["jsonrpc"] !== "2.0") return { kind: "invalid", id: answerId, reason: '"jsonrpc" must be "2.0"' };
  const method = value["method"];
  if (method === undefined) {
    if (!("result" in value) && !("error" in value)) {
      return { kind: "invalid", id: answerId, reason: 'a message needs "method", "result" or "error"' };
    }
    if (!isId(id)) return { kind: "invalid", id: null, reason: 'an answer needs the "id" of its request' };
    return { kind: "response", id, text };
  }
  if (typeof method !== "string") return { kind: "invalid", id: answerId, reason: '"method" must be a string' };
  const params = value["params"];
  if (params !== undefined && !isRecord(params)) {
    return { kind: "invalid", id: answerId, reason: '"params" must be an object' };
  }
  if (!("id" in value)) return { kind: "notification", method, params: params ?? NO_PARAMS, text };
  if (!isId(id)) return { kind: "invalid", id: null, reason: '"id" must be a string or a number' };
  return { kind: "request", id, method, params: params ?? NO_PARAMS, text };
}

/** The members of a JSON-RPC envelope. */
const ENVELOPE = ["jsonrpc", "id", "method", "params", "result", "error"];
const PARAMS = ENVELOPE.indexOf("params");
const envelope = new Wanted(ENVELOPE);
/** The members of `_meta` that the gateway reads or replaces. */
const meta = new Wanted(["progressToken", PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL], {
  refusesLookalikes: true,
});
/**
 * The params that decide a request's server, owner and input. No server may find another one of
 * them than the gateway, so no other spelling passes, even if the member itself is missing.
 */
const decisive = new Wanted(
  ["name", "uri", "ref", "taskId", "arguments", "_meta", "task", "requestState", "inputResponses"],
  {
    refusesLookalikes: true,
    inner: { _meta: meta, ref: new Wanted(["type", "name", "uri"], { refusesLookalikes: true }) },
  },
);
const NAME = decisive.keys.indexOf("name");
const request = new Wanted(ENVELOPE, { inner: { params: decisive } });

/**
 * Returns an envelope member that occurs twice in a message. Readers differ on which value counts.
 */
export function repeatedMember(messageText: string): string | undefined {
  locate(messageText, 0, envelope);
  return envelope.ambiguous?.key;
}

/** Returns the raw JSON of a message's params, `{}` if it has none. */
export function paramsText(messageText: string): string {
  return memberText(messageText, "params") ?? "{}";
}

/** The raw params of a client's request. */
export interface RequestParams {
  readonly text: string;
  /** Where the value of `name` is in it, if there is one. */
  readonly nameAt: Span | undefined;
}

/**
 * Returns the params of a client's request that goes to a server. Throws if the server could read
 * them differently.
 */
export function requestParams(messageText: string): RequestParams {
  if (locate(messageText, 0, request) === -1) throw ambiguity(request.ambiguous!);
  const start = request.start(PARAMS);
  if (start === -1) return NO_PARAMS_TEXT;
  const name = decisive.start(NAME);
  return {
    text: messageText.slice(start, request.end(PARAMS)),
    nameAt: name === -1 ? undefined : { start: name - start, end: decisive.end(NAME) - start },
  };
}

const MAX_SHOWN_LENGTH = 64;

function ambiguity({ key, written, path }: AmbiguousKey): GoblinError {
  const [params, member] = path;
  if (params === undefined)
    return new GoblinError("INVALID_REQUEST", `Invalid request: "${key}" appears in it twice; send it once`);
  const place = member === undefined ? "them" : `"${member}"`;
  const problem =
    written === undefined
      ? `"${key}" appears in ${place} twice; send it once`
      : `${JSON.stringify(written.slice(0, MAX_SHOWN_LENGTH))} in ${place} must be written as "${key}"`;
  return new GoblinError("INVALID_PARAMS", `Invalid params: ${problem}`);
}

const NO_PARAMS_TEXT: RequestParams = { text: "{}", nameAt: undefined };

/** Returns the answer in a response message. */
export function answerOf(messageText: string): Answer {
  const result = memberText(messageText, "result");
  const error = memberText(messageText, "error");
  // Some servers always write both members; the one that is not null counts.
  if (result !== undefined && (result !== "null" || error === undefined || error === "null")) {
    return { ok: true, raw: result };
  }
  return backendError(error ?? "null");
}

/** Returns a peer's error object. Adds a missing or invalid code or message, and keeps the rest. */
function backendError(raw: string): ErrorAnswer {
  const value: unknown = JSON.parse(raw);
  if (!isRecord(value)) {
    const text = JSON.stringify({
      code: NO_CODE,
      message: "The server answered with an error that is not an object",
      data: value,
    });
    return { ok: false, raw: text, code: NO_CODE };
  }
  const { code, message } = value;
  let text = raw;
  if (!Number.isInteger(code)) text = putMember(text, "code", String(NO_CODE));
  if (typeof message !== "string") text = putMember(text, "message", '"Unknown error"');
  return { ok: false, raw: text, code: Number.isInteger(code) ? (code as number) : NO_CODE };
}

function putMember(objectText: string, key: string, value: string): string {
  const span = memberSpan(objectText, 0, key);
  if (!span) return prependMembers(objectText, `"${key}":${value}`);
  return applyEdits(objectText, [{ ...span, text: value }]);
}

/**
 * Adds members to an error's `data`, unless the peer set them. A `data` that is not an object stays
 * unchanged.
 */
export function withErrorData(answer: ErrorAnswer, extra: Readonly<Record<string, string>>): ErrorAnswer {
  const span = memberSpan(answer.raw, 0, "data");
  const current = span && answer.raw.slice(span.start, span.end);
  if (span && current !== undefined && current !== "null") {
    if (!current.startsWith("{")) return answer;
    let data = current;
    for (const [key, value] of Object.entries(extra)) {
      if (!memberSpan(data, 0, key)) data = prependMembers(data, `"${key}":${JSON.stringify(value)}`);
    }
    return { ...answer, raw: applyEdits(answer.raw, [{ ...span, text: data }]) };
  }
  return { ...answer, raw: putMember(answer.raw, "data", JSON.stringify(extra)) };
}

export function withErrorCode(answer: ErrorAnswer, code: number): ErrorAnswer {
  return { ...answer, code, raw: putMember(answer.raw, "code", String(code)) };
}

export function failure(error: unknown, extra?: Readonly<Record<string, unknown>>): ErrorAnswer {
  const known = asGoblinError(error);
  const { wire, rpc } = errorTable[known.code];
  const raw = JSON.stringify({ code: rpc, message: known.message, data: { code: wire, ...known.data, ...extra } });
  return { ok: false, raw, code: rpc, symbol: known.code, reason: known.reason };
}

/** An error's code as it is shown outside: the gateway's own by name, a server's by its number. */
export function shownCode({ symbol, code }: ErrorAnswer): string | number {
  return symbol === undefined ? code : errorTable[symbol].wire;
}

export function success(result: unknown): Answer {
  return { ok: true, raw: JSON.stringify(result) };
}

/** What the newest request has between its id and its params. Most have the same method. */
let middle = { method: "", text: middleOf("") };
/** A longer one is not remembered. */
const LONG_METHOD = 200;

export function requestText(id: Id, method: string, params: string): string {
  if (method.length > LONG_METHOD) return `{"jsonrpc":"2.0","id":${idText(id)}${middleOf(method)}${params}}`;
  if (middle.method !== method) middle = { method, text: middleOf(method) };
  return `{"jsonrpc":"2.0","id":${idText(id)}${middle.text}${params}}`;
}

function middleOf(method: string): string {
  return `,"method":${JSON.stringify(method)},"params":`;
}

function idText(id: Id | null): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}

export function notificationText(method: string, params?: string): string {
  const tail = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}}`;
}

/** Returns the text before an answer's raw value. The text after it is always `}`. */
export function answerHead(id: Id | null, answer: Answer): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"${answer.ok ? "result" : "error"}":`;
}

export function answerText(id: Id | null, answer: Answer): string {
  return `${answerHead(id, answer)}${rawText(answer.raw)}}`;
}

/** Answers of at least this size stay bytes. */
const LARGE = 16 * 1024;

/** The bytes of an answer that was changed, in the form that answers have. */
export function rawOf(bytes: Buffer): Raw {
  return bytes.length >= LARGE ? bytes : bytes.toString("utf8");
}

export function rawBytes(raw: Raw): Buffer {
  return typeof raw === "string" ? Buffer.from(raw) : raw;
}

export function rawText(raw: Raw): string {
  return typeof raw === "string" ? raw : raw.toString("utf8");
}
