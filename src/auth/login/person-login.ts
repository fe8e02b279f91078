/**
 * The login of a person at an issuer that the gateway accepts access tokens of: it shows who sits
 * in front of a browser. The gateway is a client there, as the clients of that person are.
 *
 * The result is an access token for this gateway. It counts only as far as the gateway accepts it,
 * like any client's, so the person it names is exactly the principal that a client would be. The
 * token is used once, and never stored.
 */
import type { AuthorizationServer } from "oauth4webapi";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { issuerMetadata } from "./discovery.ts";
import { createGuard, type Guard } from "./guarded-fetch.ts";
import { LoginError } from "./login-error.ts";
import { oauth, requestOptions, whatWentWrong } from "./oauth.ts";
import { clientAuth, methodFor } from "./registration.ts";

/** The issuer, and who the gateway is there. */
export interface PersonIssuer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly scopes: readonly string[];
  /** Undefined: the issuer rejects the parameter. */
  readonly resource: string | undefined;
}

/** One way to the issuer and back. */
export interface PersonRound {
  /** What the redirect carries. */
  readonly state: string;
  /** Goes to the token endpoint only (PKCE). */
  readonly verifier: string;
  readonly redirectUri: string;
}

const TELL = "Tell who runs this gateway.";

export async function newVerifier(): Promise<string> {
  return (await oauth()).generateRandomCodeVerifier();
}

/** Returns the URL for the person's browser. `isAgain`: the issuer is to ask even if it knows. */
export async function personUrl(at: PersonIssuer, round: PersonRound, isAgain: boolean): Promise<string> {
  const { server, guard } = await reach(at);
  const { calculatePKCECodeChallenge } = await oauth();
  if (typeof server.authorization_endpoint !== "string") {
    const step = `reading the metadata of ${at.issuer}`;
    throw new LoginError({ server: undefined, step, what: "it has no authorization_endpoint", remedy: TELL });
  }
  const url = new URL(guard.check(server.authorization_endpoint));
  const parameters = {
    response_type: "code",
    client_id: at.clientId,
    redirect_uri: round.redirectUri,
    state: round.state,
    code_challenge: await calculatePKCECodeChallenge(round.verifier),
    code_challenge_method: "S256",
    ...(at.scopes.length > 0 && { scope: at.scopes.join(" ") }),
    ...(at.resource !== undefined && { resource: at.resource }),
    ...(isAgain && { prompt: "login" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Takes the URL that the browser was sent back to. Returns the access token. */
export async function personToken(at: PersonIssuer, round: PersonRound, redirect: URL): Promise<string> {
  const { server, guard } = await reach(at);
  const { clientId, clientSecret, resource } = at;
  const as = { client_id: clientId };
  const { validateAuthResponse, authorizationCodeGrantRequest, processAuthorizationCodeResponse } = await oauth();
  const method = methodFor(server, clientSecret);
  const auth = await clientAuth({ clientId, clientSecret, method, redirectUri: round.redirectUri });
  let step = "reading the redirect of the browser";
  try {
    const parameters = validateAuthResponse(server, as, redirect, round.state);
    step = `getting a token at ${server.token_endpoint}`;
    const answer = await authorizationCodeGrantRequest(
      ...([server, as, auth, parameters, round.redirectUri, round.verifier] as const),
      { ...(await requestOptions(guard)), ...(resource !== undefined && { additionalParameters: { resource } }) },
    );
    return (await processAuthorizationCodeResponse(server, as, answer)).access_token;
  } catch (error) {
    throw new LoginError({ server: undefined, step, what: whatWentWrong(error), remedy: TELL });
  }
}

async function reach({ issuer }: PersonIssuer): Promise<{ server: AuthorizationServer; guard: Guard }> {
  const guard = await createGuard([issuer]);
  try {
    return { guard, server: await issuerMetadata({ id: "" }, guard, issuer) };
  } catch (error) {
    const what = error instanceof LoginError ? error.what : messageOf(error);
    throw new LoginError({ server: undefined, step: `reading the metadata of ${issuer}`, what, remedy: TELL });
  }
}
