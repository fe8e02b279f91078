/**
 * Sends answers and errors as HTTP replies, and reads the Accept header. The same for every
 * protocol version.
 */
import { asGoblinError, errorTable } from "../../mcp/protocol/errors.ts";
import { type Answer, answerHead, answerText, failure, type Id } from "../../mcp/protocol/json-rpc.ts";
import { type Body, type HttpExchange, JSON_HEADERS } from "./exchange.ts";

export function replyAnswer(
  x: HttpExchange,
  id: Id | null,
  answer: Answer,
  headers?: Readonly<Record<string, string>>,
): void {
  const head = answerHead(id, answer);
  const body: Body = typeof answer.raw === "string" ? `${head}${answer.raw}}` : [head, answer.raw, "}"];
  x.reply(200, headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body);
}

/** The status is the one of the error's code. */
export function replyError(x: HttpExchange, error: unknown, id: Id | null = null): void {
  const known = asGoblinError(error);
  x.reply(errorTable[known.code].http, JSON_HEADERS, answerText(id, failure(known)));
}

export function accepts(x: HttpExchange, type: string): boolean {
  const accept = x.header("accept");
  return (
    accept === undefined ||
    accept.includes(type) ||
    accept.includes("*/*") ||
    accept.includes(`${type.split("/")[0]}/*`)
  );
}
