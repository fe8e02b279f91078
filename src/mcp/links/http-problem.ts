/**
 * Turns an HTTP exchange without a usable answer into an error that says what to change, and tells
 * whether the server can have acted on the request. What the server itself says is quoted without
 * our secrets.
 */

import type { Exchange } from "../../lib/http-client/exchange.ts";
import { EndlessResponseError } from "../../lib/http-client/response-parser.ts";
import { type ErrorReason, GoblinError } from "../protocol/errors.ts";
import type { Fate } from "./link.ts";
import { mediaType, ownWords } from "./own-words.ts";
import { redirectOf } from "./redirect.ts";

export interface HttpProblem {
  readonly error: GoblinError;
  readonly unsent: boolean;
}

/** The request that failed. */
export interface RequestTarget {
  readonly url: URL;
  readonly method: "GET" | "POST";
  /** Hides the server's secrets in a text. */
  readonly redact: (text: string) => string;
}

const CERTIFICATE = /CERT|SIGNATURE|ISSUER/;
const CERTIFICATE_ADVICE = ": its certificate is not accepted; if it is your own, name the file in NODE_EXTRA_CA_CERTS";

/** Connection errors which mean that no server is there. */
const NO_SERVER = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CONNECT_TIMEOUT",
  "PROXY_REFUSED",
]);

export function isGone({ unreachable, error }: Pick<Exchange, "unreachable" | "error">): boolean {
  return unreachable && NO_SERVER.has(codeOf(error) ?? "");
}

type Outcome = Pick<
  Exchange,
  "status" | "error" | "unreachable" | "retryAfter" | "location" | "text" | "contentType" | "wasStream"
>;

export function httpProblem(outcome: Outcome, target: RequestTarget): HttpProblem {
  const { status, error } = outcome;
  if (error instanceof EndlessResponseError)
    return problem(`The server at ${target.url.origin} was cut off: ${error.message}`, { unsent: false, cause: error });
  if (status === undefined) return unanswered(outcome, target);
  if (error) return problem("The connection broke in the middle of the answer", { unsent: false, cause: error });
  const words = ownWords(outcome, target.redact);
  const said = words === undefined ? "" : `: ${words}`;
  switch (status) {
    case 401:
      return problem(`The server refused the credentials (HTTP 401${said}): check its "headers"`, { unsent: true });
    case 403:
      return problem(`The server refused the request (HTTP 403)${said || ': check its "headers"'}`, { unsent: true });
    case 404: {
      const path = target.redact(target.url.pathname);
      return problem(`The server does not know the session or the path ${path} (HTTP 404)`, { unsent: true });
    }
    case 429:
    case 503:
      // What stands before a server says 503 also when the server broke off in the middle of its
      // work.
      return problem(`The server is busy (HTTP ${status})`, {
        unsent: status === 429,
        retryAfter: retryAfterMs(outcome.retryAfter),
      });
    default:
      if (status < 300) return problem(noAnswer(outcome), { unsent: false });
      return (
        redirected(outcome, target) ?? problem(`The server answered with HTTP ${status}${said}`, { unsent: false })
      );
  }
}

function unanswered({ error, unreachable }: Outcome, { url }: RequestTarget): HttpProblem {
  if (error instanceof TypeError)
    return problem(`The request cannot be sent: ${error.message}`, { unsent: true, cause: error });
  const code = codeOf(error);
  const what = unreachable ? `The server cannot be reached at ${url.origin}` : "The connection broke before an answer";
  const why = code === "PROXY_REFUSED" ? `: ${error?.message}` : code ? ` (${code})` : "";
  const advice = unreachable && code && CERTIFICATE.test(code) ? CERTIFICATE_ADVICE : "";
  const reason = unreachable ? "unreachable" : undefined;
  return problem(`${what}${why}${advice}`, { unsent: unreachable, reason, cause: error });
}

function noAnswer({ contentType, wasStream }: Outcome): string {
  const type = mediaType(contentType);
  if (wasStream || type === "" || type === "application/json") return "The server ended the stream without an answer";
  return `The server answered ${type}: this is no MCP endpoint`;
}

/** A redirect that is followed never becomes a problem; this one is not. */
function redirected({ status, location }: Outcome, { url, method, redact }: RequestTarget): HttpProblem | undefined {
  const found = redirectOf({ status, location, method }, url);
  if (!found) return undefined;
  const { origin, pathname } = found.target;
  const target = origin + redact(pathname);
  const advice = found.isFollowed ? "too many redirects" : `if that is right, put it into its "url"`;
  return problem(`The server redirects to ${target} (HTTP ${status}): ${advice}`, { unsent: true });
}

function codeOf(error: Error | undefined): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

interface ProblemOptions {
  readonly unsent: boolean;
  readonly reason?: ErrorReason | undefined;
  readonly cause?: Error | undefined;
  readonly retryAfter?: number | undefined;
}

function problem(message: string, { unsent, reason, cause, retryAfter }: ProblemOptions): HttpProblem {
  const data = retryAfter === undefined ? {} : { retryAfterMs: retryAfter };
  return { error: new GoblinError("BACKEND_UNAVAILABLE", message, { data, reason, cause }), unsent };
}

function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.round(ms)), 3_600_000) : undefined;
}

/**
 * A server that responded with a status is done with the request. If the connection or the stream
 * broke, it may not be.
 */
export function fateOf({ status, wasStream }: Exchange): Fate {
  return status === undefined || wasStream ? "unknown" : "over";
}

export function sessionForgotten(): GoblinError {
  return new GoblinError("BACKEND_UNAVAILABLE", "The server has forgotten the session");
}
