/**
 * Renews the tokens of a login with its refresh token (RFC 6749, section 6).
 */
import { tokenFields } from "../attempt.ts";
import type { Guard } from "../guarded-fetch.ts";
import { errorCodeOf, oauth, requestOptions, whatWentWrong } from "../oauth.ts";
import { clientAuth } from "../registration.ts";
import type { Login } from "../store.ts";

/** Whether the refresh token is of no use any more, or the attempt merely failed. */
export class RenewalError extends Error {
  override readonly name = "RenewalError";
  readonly isFinal: boolean;
  readonly code: string | undefined;

  constructor(message: string, options: { readonly isFinal: boolean; readonly code?: string | undefined }) {
    super(message);
    this.isFinal = options.isFinal;
    this.code = options.code;
  }
}

/** Returns the login with new tokens. Rejects with a `RenewalError`. */
export async function renew(login: Login, guard: Guard): Promise<Login> {
  const { issuer, tokenEndpoint, client, refreshToken, namesResource, resource } = login;
  if (refreshToken === undefined) throw new RenewalError("there is no refresh token", { isFinal: true });
  const server = { issuer, token_endpoint: tokenEndpoint };
  const as = { client_id: client.clientId };
  try {
    const { refreshTokenGrantRequest, processRefreshTokenResponse } = await oauth();
    const answer = await refreshTokenGrantRequest(...([server, as, await clientAuth(client), refreshToken] as const), {
      ...(await requestOptions(guard)),
      ...(namesResource && { additionalParameters: { resource } }),
    });
    // An ID token says nothing that is needed here, and need not be valid.
    const tokens = await processRefreshTokenResponse(server, as, await withoutIdToken(answer));
    const next = { ...login, ...tokenFields(tokens, Date.now()) };
    return { ...next, rotates: next.refreshToken !== refreshToken };
  } catch (error) {
    // A failure of the server or the network says nothing about the token.
    const code = errorCodeOf(error);
    const { status } = error as { status?: unknown };
    const isFinal = code !== undefined && typeof status === "number" && status < 500 && status !== 429;
    throw new RenewalError(`its login cannot be renewed at ${tokenEndpoint}: ${whatWentWrong(error)}`, {
      isFinal,
      code,
    });
  }
}

async function withoutIdToken(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  const text = await answer.text();
  try {
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return new Response(JSON.stringify(rest), { status, headers });
  } catch {
    return new Response(text, { status, headers });
  }
}
