/**
 * The OAuth library, loaded when a login or a renewal needs it: most gateways never do. All its
 * requests take the guarded way.
 */

import { recordOf } from "../../lib/structures/record.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Guard } from "./guarded-fetch.ts";

export const oauth = (): Promise<typeof import("oauth4webapi")> => import("oauth4webapi");

/** The guard decides about plain HTTP, so the library need not. */
export async function requestOptions(guard: Guard) {
  const { allowInsecureRequests, customFetch } = await oauth();
  return {
    [allowInsecureRequests]: true,
    [customFetch]: (url: string, init: { method: string; headers: Record<string, string>; body?: unknown }) =>
      guard.fetch(url, init),
  };
}

/** The OAuth error code that an authorization server answered with, for example `invalid_grant`. */
export function errorCodeOf(error: unknown): string | undefined {
  const { code, error: answered, cause } = error as { code?: unknown; error?: unknown; cause?: unknown };
  if (code === "OAUTH_WWW_AUTHENTICATE_CHALLENGE") return challengeError(cause);
  const isAnswer = code === "OAUTH_RESPONSE_BODY_ERROR" || code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR";
  return isAnswer && typeof answered === "string" ? answered : undefined;
}

/** A token endpoint refuses a client with a challenge (RFC 6749, section 5.2). */
function challengeError(challenges: unknown): string {
  const [first] = Array.isArray(challenges) ? challenges : [];
  const error = recordOf(recordOf(first)["parameters"])["error"];
  return typeof error === "string" ? error : "invalid_client";
}

/**
 * Says what an authorization server answered. The library's errors hold whole answers, tokens
 * included, so nothing of them may be kept but the words here.
 */
export function whatWentWrong(error: unknown): string {
  const answered = errorCodeOf(error);
  if (answered !== undefined) return `the authorization server answered "${answered}"`;
  const { code, cause, status } = error as { code?: unknown; cause?: unknown; status?: unknown };
  const http = cause instanceof Response ? cause.status : status;
  const suffix = typeof http === "number" ? ` (HTTP ${http})` : "";
  const isAnswer = typeof code === "string" && code.startsWith("OAUTH_");
  return isAnswer ? `the answer cannot be used: ${messageOf(error)}${suffix}` : messageOf(error);
}
