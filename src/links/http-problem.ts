/**
 * Turns an HTTP exchange without a usable answer into an error, and tells whether the server can
 * have acted on the request. The error never quotes the body, which may echo credentials.
 */

import type { Exchange } from "../http-client/exchange.ts";
import { type ErrorReason, GoblinError } from "../protocol/errors.ts";

export interface HttpProblem {
  readonly error: GoblinError;
  readonly unsent: boolean;
}

const CERTIFICATE = /CERT|SIGNATURE|ISSUER/;
const CERTIFICATE_ADVICE = ": its certificate is not accepted; if it is your own, name the file in NODE_EXTRA_CA_CERTS";

/** Connection errors which mean that no server is there. */
const NO_SERVER = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "CONNECT_TIMEOUT"]);

export function isGone({ unreachable, error }: Pick<Exchange, "unreachable" | "error">): boolean {
  return unreachable && NO_SERVER.has((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

type Outcome = Pick<Exchange, "status" | "error" | "unreachable" | "retryAfter">;

export function httpProblem(outcome: Outcome): HttpProblem {
  const { status, error, unreachable } = outcome;
  if (status === undefined) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (error instanceof TypeError)
      return problem(`The request cannot be sent: ${error.message}`, { unsent: true, cause: error });
    const what = unreachable ? "The server cannot be reached" : "The connection broke before an answer";
    const advice = unreachable && code && CERTIFICATE.test(code) ? CERTIFICATE_ADVICE : "";
    const reason = unreachable ? "unreachable" : undefined;
    return problem(`${what}${code ? ` (${code})` : ""}${advice}`, { unsent: unreachable, reason, cause: error });
  }
  if (error) return problem("The connection broke in the middle of the answer", { unsent: false, cause: error });
  switch (status) {
    case 401:
    case 403:
      return problem(`The server refused the credentials (HTTP ${status}): check its "headers"`, { unsent: true });
    case 404:
      return problem("The server does not know the session or the path (HTTP 404)", { unsent: true });
    case 429:
    case 503:
      // What stands before a server says 503 also when the server broke off in the middle of its
      // work.
      return problem(`The server is busy (HTTP ${status})`, {
        unsent: status === 429,
        retryAfter: retryAfterMs(outcome.retryAfter),
      });
    default:
      if (status < 300) return problem("The server ended the stream without an answer", { unsent: false });
      return problem(`The server answered with HTTP ${status}`, { unsent: false });
  }
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
