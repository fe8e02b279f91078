/**
 * The limits of the config that can be exceeded, and the error that names the limit, its config key
 * and the remedy.
 *
 * The code that enforces a limit reports it through `OnLimit`, once for each time it is exceeded,
 * and never otherwise.
 */
import { type ErrorCode, GoblinError } from "./errors.ts";

/** The keys of the config's `limits` section. */
export const limitNames = [
  "subscriptionsPerClient",
  "sessions",
  "sessionIdleMs",
  "bodyBytes",
  "headerBytes",
  "resultBytes",
  "catalogBytes",
  "definitionBytes",
  "unreadBytes",
  "unsentBytes",
  "inFlightPerServer",
  "queuePerServer",
  "connectionsPerServer",
  "inFlightPerSession",
  "batchMessages",
  "callsPerSecond",
  "callsAwaitingInput",
  "handOvers",
  "heldCalls",
  "heldBytes",
] as const;
export type LimitName = (typeof limitNames)[number];

/** Reports that a limit was exceeded. */
export type OnLimit = (limit: LimitName) => void;

export interface LimitViolation {
  readonly limit: LimitName;
  /** What the config says. */
  readonly value: number;
  /** What is too much. */
  readonly what: string;
  /** What its reader can do, besides raising the limit. */
  readonly advice: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** Another of the codes that are called LimitExceeded outside. */
  readonly code?: Extract<ErrorCode, "BODY_TOO_LARGE" | "HEADERS_TOO_LARGE">;
}

/** A client's message is over `limits.bodyBytes`, whichever way it came. */
export function bodyTooLarge(value: number): GoblinError {
  const what = "the message is too large";
  return limitExceeded({ limit: "bodyBytes", value, what, advice: "send less at once", code: "BODY_TOO_LARGE" });
}

/** A client has `limits.inFlightPerSession` calls under way. */
export function tooManyUnderWay(value: number): GoblinError {
  return limitExceeded({
    limit: "inFlightPerSession",
    value,
    what: "too many calls of this client are under way",
    advice: "wait for one to be answered",
  });
}

export function limitExceeded({ limit, value, what, advice, data, code }: LimitViolation): GoblinError {
  const name = `limits.${limit}`;
  const message = `LimitExceeded: ${what} (${name} is ${value}); ${advice}, or raise the limit`;
  return new GoblinError(code ?? "LIMIT_EXCEEDED", message, { data: { ...data, limit: value, limitName: name } });
}
