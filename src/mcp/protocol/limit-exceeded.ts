/**
 * The limits that can be exceeded, and the error that names the limit and the remedy.
 *
 * The code that enforces a limit reports it through `OnLimit`, once for each time it is exceeded,
 * and never otherwise.
 */
import { type ErrorCode, GoblinError } from "./errors.ts";

/** The keys of the config's `limits` section. */
const configuredLimits = [
  "sessions",
  "sessionIdleMs",
  "bodyBytes",
  "inFlightPerServer",
  "connectionsPerServer",
  "callsPerSecond",
] as const;

/** Limits that no key of the config sets. */
const fixedLimits = [
  "subscriptionsPerClient",
  "headerBytes",
  "resultBytes",
  "catalogBytes",
  "definitionBytes",
  "unreadBytes",
  "unsentBytes",
  "queuePerServer",
  "inFlightPerSession",
  "batchMessages",
  "callsAwaitingInput",
  "handOvers",
  "heldCalls",
  "heldBytes",
] as const;

export const limitNames = [...configuredLimits, ...fixedLimits] as const;
export type LimitName = (typeof limitNames)[number];

/** The name that errors, metrics and the log use: the config's key, if there is one. */
export function shownLimit(limit: LimitName): string {
  return isConfigured(limit) ? `limits.${limit}` : limit;
}

function isConfigured(limit: LimitName): boolean {
  return (configuredLimits as readonly LimitName[]).includes(limit);
}

/** Reports that a limit was exceeded. */
export type OnLimit = (limit: LimitName) => void;

export interface LimitViolation {
  readonly limit: LimitName;
  readonly value: number;
  /** What is too much. */
  readonly what: string;
  /** What its reader can do, besides raising a limit of the config. */
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

/** A client has `inFlightPerSession` calls under way. */
export function tooManyUnderWay(value: number): GoblinError {
  return limitExceeded({
    limit: "inFlightPerSession",
    value,
    what: "too many calls of this client are under way",
    advice: "wait for one to be answered",
  });
}

export function limitExceeded({ limit, value, what, advice, data, code }: LimitViolation): GoblinError {
  const name = shownLimit(limit);
  const raise = isConfigured(limit) ? ", or raise the limit" : "";
  const message = `LimitExceeded: ${what} (${name} is ${value}); ${advice}${raise}`;
  return new GoblinError(code ?? "LIMIT_EXCEEDED", message, { data: { ...data, limit: value, limitName: name } });
}
