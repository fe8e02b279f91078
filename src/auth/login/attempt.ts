/**
 * One login of a user at a server's authorization server: the URL that the browser opens, and what
 * the redirect back is good for.
 *
 * The redirect counts only with the state of this attempt and from the issuer that it was begun at
 * (RFC 9207). The code is worth nothing without the verifier, which goes to the token endpoint only
 * (PKCE). Nothing is stored until the tokens are there.
 */
import type { TokenEndpointResponse } from "oauth4webapi";
import type { Challenge } from "./challenge.ts";
import { assertBrowserLogin, canonicalUrl, type Discovered, discover, type LoginTarget } from "./discovery.ts";
import type { Guard } from "./guarded-fetch.ts";
import { LoginError } from "./login-error.ts";
import { errorCodeOf, oauth, requestOptions, whatWentWrong } from "./oauth.ts";
import { clientAuth, redirectTag, registrationAt } from "./registration.ts";
import { admitIssuer } from "./secret-issuer.ts";
import { type Login, type LoginStore, type Registration, wantedKey } from "./store.ts";

/** What is wanted of the address for the redirect. */
export interface WantedRedirect {
  /** The one that is registered, if any. */
  readonly known: string | undefined;
  /** The last part of its path, which is the issuer's alone; empty: none. */
  readonly tag: string;
}

export interface AttemptOptions {
  readonly target: LoginTarget;
  readonly guard: Guard;
  readonly store: LoginStore;
  readonly challenge: Challenge | undefined;
  readonly redirectUri: (wanted: WantedRedirect) => Promise<string>;
  /** The address of a client metadata document that describes this gateway to all issuers. */
  readonly metadataUrl: string | undefined;
  /** Returns the address of one for a single issuer, by its tag. */
  readonly documentFor?: ((tag: string) => string) | undefined;
  readonly principal: string;
  /** The issuer that a person let have the client secret of the config. */
  readonly confirmedIssuer?: string | undefined;
}

export interface LoginAttempt {
  /** For the user's browser. */
  readonly url: string;
  /** What the redirect to this attempt carries. */
  readonly state: string;
  readonly issuer: string;
  /** Takes the URL that the browser was sent back to. Rejects with a `LoginError`. */
  finish(redirect: URL): Promise<Login>;
}

type Tokens = TokenEndpointResponse;

const OFFLINE = "offline_access";

export async function beginLogin(options: AttemptOptions): Promise<LoginAttempt> {
  const { target, guard, store, challenge } = options;
  const found = await discover(target, guard, challenge);
  const { authorizationServer } = found;
  assertBrowserLogin(target, authorizationServer);
  const { registrations, wanted } = await store.read();
  const tag = redirectTag(target, { ...options, authorizationServer, redirectUri: undefined });
  const known = registrations[authorizationServer.issuer]?.redirectUri;
  const redirectUri = await options.redirectUri({ known, tag });
  const client = await registrationAt({ ...options, ...found, redirectUri });
  const pinIssuer = await admitIssuer({ ...options, client, issuer: authorizationServer.issuer });
  const { generateRandomCodeVerifier, generateRandomState, calculatePKCECodeChallenge } = await oauth();
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const namesResource = target.auth.resource !== false;
  const key = wantedKey(canonicalUrl(target.url), options.principal);
  const scopes = scopesFor(found, target, { challenge, wanted: wanted[key] });
  const url = new URL(guard.check(authorizationServer.authorization_endpoint!));
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    // OpenID Connect ignores the scope without the question.
    ...(scopes.includes(OFFLINE) && { prompt: "consent" }),
    ...(namesResource && { resource: found.resource }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return {
    url: url.href,
    state,
    issuer: authorizationServer.issuer,
    finish: (redirect) =>
      finish({ ...options, found, client, pinIssuer, verifier, state, scopes, namesResource }, redirect),
  };
}

/** The scopes that a server asked for. */
interface AskedScopes {
  readonly challenge: Challenge | undefined;
  /** Those of earlier calls. */
  readonly wanted: readonly string[] | undefined;
}

/** Everything that the server may want at once, so that nobody is asked twice. */
export function scopesFor(
  { scopes: listed, authorizationServer }: Discovered,
  { auth }: LoginTarget,
  { challenge, wanted = [] }: AskedScopes,
): string[] {
  const named = challenge && challenge.scopes.length > 0 ? challenge.scopes : listed;
  const scopes = new Set([...(auth.scopes ?? named), ...wanted]);
  if (scopes.size > 0 && authorizationServer.scopes_supported?.includes(OFFLINE)) scopes.add(OFFLINE);
  return [...scopes];
}

interface Begun extends AttemptOptions {
  readonly found: Discovered;
  readonly client: Registration;
  /** Comes right before the client's secret is sent. */
  readonly pinIssuer: () => Promise<void>;
  readonly verifier: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly namesResource: boolean;
}

async function finish(begun: Begun, redirect: URL): Promise<Login> {
  const login = loginOf(begun, await tokensFor(begun, redirect));
  await begun.store.add(login);
  return login;
}

export type LoginParts = Pick<Begun, "target" | "found" | "client" | "principal" | "namesResource" | "scopes">;

/** The login that an answer of the token endpoint makes. */
export function loginOf(
  { target, found, client, principal, namesResource, scopes }: LoginParts,
  tokens: Tokens,
): Login {
  const { issuer, token_endpoint, revocation_endpoint } = found.authorizationServer;
  const now = Date.now();
  return {
    url: canonicalUrl(target.url),
    issuer,
    resource: found.resource,
    principal,
    client,
    tokenEndpoint: token_endpoint!,
    revocationEndpoint: revocation_endpoint,
    namesResource,
    loggedInAt: now,
    scopes,
    ...tokenFields(tokens, now),
  };
}

/** The fields of a login that an answer of the token endpoint sets. */
export function tokenFields(tokens: TokenEndpointResponse, now: number) {
  const { access_token, refresh_token, expires_in, scope } = tokens;
  return {
    accessToken: access_token,
    obtainedAt: now,
    expiresAt: expires_in === undefined ? undefined : now + expires_in * 1000,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(scope !== undefined && { scopes: scope.split(" ").filter((one) => one !== "") }),
  };
}

async function tokensFor(begun: Begun, redirect: URL): Promise<TokenEndpointResponse> {
  const { target, found, client, guard, verifier, state, namesResource } = begun;
  const { authorizationServer: server } = found;
  const as = { client_id: client.clientId };
  const { validateAuthResponse, authorizationCodeGrantRequest, processAuthorizationCodeResponse } = await oauth();
  let step = "reading the redirect of the browser";
  try {
    if (redirect.origin + redirect.pathname !== client.redirectUri) {
      throw new Error(`it leads to ${redirect.origin}${redirect.pathname}, which another issuer redirects to`);
    }
    const parameters = validateAuthResponse(server, as, redirect, state);
    step = `getting a token at ${server.token_endpoint}`;
    await begun.pinIssuer();
    const answer = await authorizationCodeGrantRequest(
      ...([server, as, await clientAuth(client), parameters, client.redirectUri, verifier] as const),
      {
        ...(await requestOptions(guard)),
        ...(namesResource && { additionalParameters: { resource: found.resource } }),
      },
    );
    return await processAuthorizationCodeResponse(server, as, answer);
  } catch (error) {
    if (error instanceof LoginError) throw error;
    throw new LoginError({ server: target.id, step, what: whatWentWrong(error), remedy: remedyFor(error) });
  }
}

export function remedyFor(error: unknown, otherwise = "Nothing was stored. Log in again."): string {
  switch (errorCodeOf(error)) {
    case "access_denied":
      return "Log in again and agree.";
    case "invalid_target":
      return 'Set "auth.resource" to false in the server\'s config.';
    case "invalid_scope":
      return 'Set "auth.scopes" in the server\'s config to scopes that you may have.';
    case "invalid_client":
    case "unauthorized_client":
      return 'Check "auth.clientId" and its secret or key in the server\'s config.';
    default:
      return otherwise;
  }
}
