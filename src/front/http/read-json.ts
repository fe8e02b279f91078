/**
 * Reads the JSON body of a POST, or replies with an error about its content type, size or syntax. A
 * client that disconnects while sending gets no answer and affects nobody else. A large body counts
 * against its account until the calls in it are over, and a very large one is parsed in slices.
 */
import { parseInSlices, TooDeep } from "../../json/json-parse.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { failure } from "../../protocol/json-rpc.ts";
import { bodyTooLarge } from "../../protocol/limit-exceeded.ts";
import type { Principal } from "../../protocol/principal.ts";
import { textOf } from "../../text/utf8.ts";
import { inSlices, type Sliced, textCost } from "../../timing/slices.ts";
import { type BodyBudget, bodiesTooLarge, SMALL_BODY } from "../body-budget.ts";
import type { FrontContext } from "../context.ts";
import { Oversized } from "../oversized.ts";
import type { HttpExchange } from "./exchange.ts";
import { replyAnswer, replyError } from "./reply.ts";

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/** Larger bodies are parsed in slices: one of many small values takes long. */
const LARGE_BODY = 256 * 1024;
/** About what V8 needs for an object or an array. One body full of them is within a share. */
const CONTAINER_BYTES = 40;

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
  const refuse = (error: GoblinError, id?: number): void => {
    onLimit("bodyBytes");
    if (answersHere && id !== undefined) replyAnswer(x, id, failure(error));
    else replyError(x, error);
  };
  x.body(bodyBytes, (bytes, id) => {
    if (!bytes) return refuse(x.hold?.isRefused ? bodiesTooLarge(bodyBytes) : bodyTooLarge(bodyBytes), id);
    if (bytes.length > LARGE_BODY) {
      readLarge(bytes, x, { take, refuse: () => refuse(bodiesTooLarge(bodyBytes), idIn(bytes)) });
      return;
    }
    let body: JsonBody;
    try {
      const text = textOf(bytes);
      body = { value: JSON.parse(text), text };
    } catch {
      return replyError(x, notJson());
    }
    hand(body, x, take);
  });
}

interface LargeOptions {
  readonly take: (body: JsonBody) => void;
  /** Replies that the account holds too much. */
  readonly refuse: () => void;
}

function readLarge(bytes: Buffer, x: HttpExchange, { take, refuse }: LargeOptions): void {
  let isGone = false;
  x.onAbort(() => {
    isGone = true;
  });
  // Objects and arrays count against the account as well, before they are made.
  const mayHave = (containers: number): boolean => !isGone && (!x.hold || x.hold.take(containers * CONTAINER_BYTES));
  const parsed = inSlices(bodyInSlices(bytes, mayHave));
  x.hold?.until(parsed);
  parsed.then(
    (body) => isGone || hand(body, x, take),
    (error) => {
      if (x.hold?.isRefused) refuse();
      else replyError(x, error instanceof TooDeep ? tooDeep(error) : notJson());
    },
  );
}

function* bodyInSlices(bytes: Buffer, mayHave: (containers: number) => boolean): Sliced<JsonBody> {
  const text = textOf(bytes);
  yield textCost(text);
  const onContainers = (count: number): void => {
    if (!mayHave(count)) throw new Error("nobody waits for it, or it needs too much");
  };
  return { value: yield* parseInSlices(bytes, { onContainers }), text };
}

/** The id of the request, if it can be read at the edges. */
function idIn(bytes: Buffer): number | undefined {
  const edges = new Oversized(bytes);
  edges.push(bytes);
  return edges.id;
}

function tooDeep({ message }: TooDeep): GoblinError {
  return new GoblinError("INVALID_REQUEST", `Invalid request: a large part of it is nested in ${message}`);
}

function notJson(): GoblinError {
  return new GoblinError("PARSE_ERROR", "Parse error: the body is not valid JSON");
}

function hand(body: JsonBody, x: HttpExchange, take: (body: JsonBody) => void): void {
  try {
    take(body);
  } catch (error) {
    replyError(x, error);
  }
  x.hold?.read();
}
