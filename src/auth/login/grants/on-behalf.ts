/**
 * Tokens on behalf of a caller who came with an access token of its own: token exchange (RFC 8693),
 * Entra's on-behalf-of flow, and identity assertions (ID-JAG).
 *
 * Invariant: the caller's token goes to the token endpoint of an authorization server that the
 * config names, and nowhere else. The server never sees it, and its metadata does not decide where
 * it goes.
 */
import type { AuthorizationServer, TokenEndpointResponse } from "oauth4webapi";
import type { ServerAuth } from "../../../config/schema/server-auth.ts";
import { issuerMetadata, type LoginTarget } from "../discovery.ts";
import { createGuard, type Guard } from "../guarded-fetch.ts";
import { oauth, requestOptions } from "../oauth.ts";
import { clientAuth, methodFor } from "../registration.ts";
import type { Registration } from "../store.ts";

/** The caller's own access token. */
export interface Subject {
  readonly token: string;
  /** The issuer of it. */
  readonly issuer: string;
}

/** What is asked for, and by whom. */
export interface Asking {
  readonly target: LoginTarget;
  readonly server: AuthorizationServer;
  /** Undefined: token requests do not name it. */
  readonly resource: string | undefined;
  readonly client: Registration;
  readonly guard: Guard;
  readonly scopes: readonly string[];
}

type Parameters = Readonly<Record<string, string>>;

const TYPE = "urn:ietf:params:oauth:token-type:";
const GRANT = "urn:ietf:params:oauth:grant-type:";

/** Whether the gateway gets tokens for this server with the caller's own. */
export function isOnBehalf({ grant }: Pick<ServerAuth, "grant">): boolean {
  return grant === "token_exchange" || grant === "on_behalf_of" || grant === "id_jag";
}

export function onBehalf(asking: Asking, subject: Subject): Promise<TokenEndpointResponse> {
  const { grant } = asking.target.auth;
  if (grant === "id_jag") return withAssertion(asking, subject);
  return grant === "on_behalf_of" ? onBehalfOf(asking, subject) : exchange(asking, subject);
}

function exchange(asking: Asking, { token }: Subject): Promise<TokenEndpointResponse> {
  return request(asking, `${GRANT}token-exchange`, {
    subject_token: token,
    subject_token_type: `${TYPE}access_token`,
    requested_token_type: `${TYPE}access_token`,
    ...(asking.resource !== undefined && { resource: asking.resource }),
  });
}

/** Entra rejects a resource: its scopes name it. */
function onBehalfOf(asking: Asking, { token }: Subject): Promise<TokenEndpointResponse> {
  return request(asking, `${GRANT}jwt-bearer`, { assertion: token, requested_token_use: "on_behalf_of" });
}

/** First an assertion of the caller's identity provider, then a token for it. */
async function withAssertion(asking: Asking, { token, issuer }: Subject): Promise<TokenEndpointResponse> {
  const { target, server, resource } = asking;
  const { idp } = target.auth;
  if (!idp || idp.issuer !== issuer) throw new Error(`the caller's token is not of ${idp?.issuer}`);
  const guard = await createGuard([target.url, idp.issuer]);
  const provider = await issuerMetadata(target, guard, idp.issuer);
  const { clientId, clientSecret } = (await target.completeAuth?.())?.idp ?? idp;
  const client: Registration = { clientId, clientSecret, method: methodFor(provider, clientSecret), redirectUri: "" };
  const { access_token: assertion } = await request(
    { ...asking, server: provider, client, guard },
    `${GRANT}token-exchange`,
    {
      subject_token: token,
      subject_token_type: `${TYPE}access_token`,
      requested_token_type: `${TYPE}id-jag`,
      audience: server.issuer,
      ...(resource !== undefined && { resource }),
    },
  );
  return request(asking, `${GRANT}jwt-bearer`, { assertion, ...(resource !== undefined && { resource }) });
}

async function request({ server, client, guard, scopes }: Asking, grant: string, parameters: Parameters) {
  const { genericTokenEndpointRequest, processGenericTokenEndpointResponse } = await oauth();
  const as = { client_id: client.clientId };
  const all = { ...parameters, ...(scopes.length > 0 && { scope: scopes.join(" ") }) };
  const answer = await genericTokenEndpointRequest(
    ...([server, as, await clientAuth(client), grant, all] as const),
    await requestOptions(guard),
  );
  // An assertion is no access token, and says so.
  const recognizedTokenTypes = { n_a: () => {} };
  return processGenericTokenEndpointResponse(server, as, answer, { recognizedTokenTypes });
}
