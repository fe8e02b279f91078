/**
 * Reads the JSON body of a POST, or replies with an error about its content type, size or syntax. A
 * client that disconnects while sending gets no answer and affects nobody else. A large body counts
 * against its account until the calls in it are over.
 */
import { GoblinError } from "../../protocol/errors.ts";
import { failure } from "../../protocol/json-rpc.ts";
import { bodyTooLarge } from "../../protocol/limit-exceeded.ts";
import type { Principal } from "../../protocol/principal.ts";
import { textOf } from "../../text/utf8.ts";
import { type BodyBudget, bodiesTooLarge, SMALL_BODY } from "../body-budget.ts";
import type { FrontContext } from "../context.ts";
import type { HttpExchange } from "./exchange.ts";
import { replyAnswer, replyError } from "./reply.ts";

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

export interface Sender {
  readonly x: HttpExchange;
  readonly principal: Principal;
}

export interface ReadOptions extends Pick<FrontContext, "config" | "onLimit"> {
  readonly bodies: BodyBudget;
  /** The reply carries the answer to the request. So an error about it can be that answer. */
  readonly answersHere?: boolean;
}

/**
 * Calls `take` once with the body, or replies with an error. Work on the body that goes on after
 * that is told to the hold of the exchange.
 */
export function readJson(
  { x, principal }: Sender,
  { config, onLimit, bodies, answersHere = false }: ReadOptions,
  take: (body: JsonBody) => void,
): void {
  if (!JSON_TYPE.test(x.header("content-type") ?? "")) {
    return replyError(x, new GoblinError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json"));
  }
  const { bodyBytes } = config.current.limits;
  // Also without a length.
  if (!(Number(x.header("content-length")) <= SMALL_BODY)) {
    const hold = bodies.hold(principal.id || x.network);
    x.hold = hold;
    x.onDone(() => hold.read());
  }
  x.body(bodyBytes, (bytes, id) => {
    if (!bytes) {
      onLimit("bodyBytes");
      const error = x.hold?.isRefused ? bodiesTooLarge(bodyBytes) : bodyTooLarge(bodyBytes);
      return answersHere && id !== undefined ? replyAnswer(x, id, failure(error)) : replyError(x, error);
    }
    let text: string;
    let value: unknown;
    try {
      text = textOf(bytes);
      value = JSON.parse(text);
    } catch {
      return replyError(x, new GoblinError("PARSE_ERROR", "Parse error: the body is not valid JSON"));
    }
    try {
      take({ value, text });
    } catch (error) {
      replyError(x, error);
    }
    x.hold?.read();
  });
}
