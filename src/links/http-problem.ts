/**
 * Turns an HTTP exchange without a usable answer into an error, and tells whether the server can
 * have acted on the request. The error never quotes the body, which may echo credentials.
 */

import type { Exchange } from "../http-client/exchange.ts";
import { GoblinError } from "../protocol/errors.ts";

export interface HttpProblem {
  readonly error: GoblinError;
  readonly unsent: boolean;
}

export const UNREACHABLE = "The server cannot be reached";

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
    if (error instanceof TypeError) return problem(`The request cannot be sent: ${error.message}`, true, error);
    const what = unreachable ? UNREACHABLE : "The connection broke before an answer";
    const advice = unreachable && code && CERTIFICATE.test(code) ? CERTIFICATE_ADVICE : "";
    return problem(`${what}${code ? ` (${code})` : ""}${advice}`, unreachable, error);
  }
  if (error) return problem("The connection broke in the middle of the answer", false, error);
  switch (status) {
    case 401:
    case 403:
      return problem(`The server refused the credentials (HTTP ${status}): check its "headers"`, true);
    case 404:
      return problem("The server does not know the session or the path (HTTP 404)", true);
    case 429:
    case 503:
      // A proxy also sends 503 when the server fails in the middle of a request, so the request may
      // have been executed.
      return problem(
        `The server is busy (HTTP ${status})`,
        status === 429,
        undefined,
        retryAfterMs(outcome.retryAfter),
      );
    default:
      if (status < 300) return problem("The server ended the stream without an answer", false);
      return problem(`The server answered with HTTP ${status}`, false);
  }
}

function problem(message: string, unsent: boolean, cause?: Error, retryAfter?: number): HttpProblem {
  const data = retryAfter === undefined ? {} : { retryAfterMs: retryAfter };
  return { error: new GoblinError("BACKEND_UNAVAILABLE", message, { data, cause }), unsent };
}

function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.round(ms)), 3_600_000) : undefined;
}
