/**
 * Sends answers and errors as HTTP replies, and reads the Accept header. The same for every
 * protocol version.
 */
import { asGoblinError, errorTable, GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerHead, answerText, failure, type Id } from "../../mcp/protocol/json-rpc.ts";
import type { Incoming } from "../classify.ts";
import { type Body, type HttpExchange, JSON_HEADERS } from "./exchange.ts";

/** A gateway that restarts is back about then. */
const RETRY_AFTER = "2";

export function replyAnswer(
  exchange: HttpExchange,
  id: Id | null,
  answer: Answer,
  headers?: Readonly<Record<string, string>>,
): void {
  const head = answerHead(id, answer);
  const body: Body = typeof answer.raw === "string" ? `${head}${answer.raw}}` : [head, answer.raw, "}"];
  exchange.reply(200, headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body);
}

/** The status is the one of the error's code. */
export function replyError(exchange: HttpExchange, error: unknown, id: Id | null = null): void {
  const known = asGoblinError(error);
  exchange.reply(errorTable[known.code].http, JSON_HEADERS, answerText(id, failure(known)));
}

/** Refuses a request that came too late for a gateway that stops. Nothing of it has run. */
export function replyStopping(exchange: HttpExchange, id: Id | null = null): void {
  const error = new GoblinError("BACKEND_UNAVAILABLE", "The gateway is shutting down; send the request again");
  const headers = { ...JSON_HEADERS, "retry-after": RETRY_AFTER, connection: "close" };
  exchange.reply(errorTable[error.code].http, headers, answerText(id, failure(error)));
}

/**
 * Returns the id of the request that a body carries, and null for a batch with one. Undefined: it
 * carries none. Notifications and answers let running calls end.
 */
export function requestIn(incoming: Incoming): Id | null | undefined {
  if (!("batch" in incoming)) return incoming.message.kind === "request" ? incoming.message.id : undefined;
  return incoming.batch.messages().some(({ kind }) => kind === "request") ? null : undefined;
}

export function accepts(exchange: HttpExchange, type: string): boolean {
  const accept = exchange.header("accept");
  return (
    accept === undefined ||
    accept.includes(type) ||
    accept.includes("*/*") ||
    accept.includes(`${type.split("/")[0]}/*`)
  );
}
