/**
 * Reads the JSON body of a POST, or replies with an error about its content type, size or syntax. A
 * client that disconnects while sending gets no answer and affects nobody else. A large body counts
 * against its account until the calls in it are over, and a very large one is parsed in slices.
 */

import { textOf } from "../../lib/text/utf8.ts";
import { inSlices } from "../../lib/timing/slices.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { failure } from "../../mcp/protocol/json-rpc.ts";
import { bodyTooLarge } from "../../mcp/protocol/limit-exceeded.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { type BodyBudget, bodiesTooLarge, SMALL_BODY } from "../bodies/body-budget.ts";
import { bodyInSlices, LARGE_BODY, parseProblem } from "../bodies/large-body.ts";
import { OversizedBody } from "../bodies/oversized.ts";
import type { IncomingBody } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import type { HttpExchange } from "./exchange.ts";
import { replyAnswer, replyError } from "./reply.ts";

/** About what V8 needs for an object or an array. One body full of them is within a share. */
const CONTAINER_BYTES = 40;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

export interface Sender {
  readonly exchange: HttpExchange;
  readonly principal: Principal;
}

export interface ReadOptions extends Pick<FrontContext, "config" | "onLimit"> {
  readonly bodies: BodyBudget;
  /** The reply carries the answer to the request. So an error about it can be that answer. */
  readonly answersHere?: boolean;
}

/**
 * Calls `take` once with the body, in a later turn, or replies with an error. Work on the body that
 * goes on after that is told to the hold of the exchange.
 */
export function readJson(
  { exchange, principal }: Sender,
  { config, onLimit, bodies, answersHere = false }: ReadOptions,
  take: (body: IncomingBody) => void,
): void {
  const type = exchange.header("content-type") ?? "";
  if (type !== "application/json" && !JSON_TYPE.test(type)) {
    return replyError(exchange, new GoblinError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json"));
  }
  const { bodyBytes } = config.current.limits;
  // Also without a length.
  if (!(Number(exchange.header("content-length")) <= SMALL_BODY)) {
    const hold = bodies.hold(principal.id || exchange.network);
    exchange.hold = hold;
    exchange.onDone(() => hold.read());
  }
  const refuse = (error: GoblinError, id?: number): void => {
    onLimit("bodyBytes");
    if (answersHere && id !== undefined) replyAnswer(exchange, id, failure(error));
    else replyError(exchange, error);
  };
  exchange.body(bodyBytes, (bytes, id) => {
    if (!bytes) return refuse(exchange.hold?.isRefused ? bodiesTooLarge(bodyBytes) : bodyTooLarge(bodyBytes), id);
    if (bytes.length > LARGE_BODY) {
      readLarge(bytes, exchange, { take, refuse: () => refuse(bodiesTooLarge(bodyBytes), idIn(bytes)) });
      return;
    }
    let body: IncomingBody;
    try {
      const text = textOf(bytes);
      body = { value: JSON.parse(text), text };
    } catch (error) {
      return replyError(exchange, parseProblem(error, "the body"));
    }
    hand(body, exchange, take);
  });
}

interface LargeOptions {
  readonly take: (body: IncomingBody) => void;
  /** Replies that the account holds too much. */
  readonly refuse: () => void;
}

function readLarge(bytes: Buffer, exchange: HttpExchange, { take, refuse }: LargeOptions): void {
  let isGone = false;
  exchange.onAbort(() => {
    isGone = true;
  });
  // Objects and arrays count against the account as well, before they are made.
  const mayHave = (containers: number): boolean =>
    !isGone && (!exchange.hold || exchange.hold.take(containers * CONTAINER_BYTES));
  const parsed = inSlices(bodyInSlices(bytes, mayHave));
  exchange.hold?.until(parsed);
  parsed.then(
    (body) => isGone || hand(body, exchange, take),
    (error) => {
      if (exchange.hold?.isRefused) refuse();
      else replyError(exchange, parseProblem(error, "the body"));
    },
  );
}

/** The id of the request, if it can be read at the edges. */
function idIn(bytes: Buffer): number | undefined {
  const edges = new OversizedBody(bytes);
  edges.push(bytes);
  return edges.id;
}

function hand(body: IncomingBody, exchange: HttpExchange, take: (body: IncomingBody) => void): void {
  try {
    take(body);
  } catch (error) {
    replyError(exchange, error);
  }
  exchange.hold?.read();
}
