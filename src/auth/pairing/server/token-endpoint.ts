/**
 * The token endpoint: exchanges an authorization code or a refresh token for tokens, and ends
 * grants (RFC 7009).
 *
 * A code or a refresh token that comes a second time ends its grant: two parties hold it. A request
 * that fails says why only in the words of the standard.
 */
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import type { Grants } from "../grants.ts";
import type { Grant } from "../store.ts";
import type { Agreed, AuthorizationCodes } from "./authorization-codes.ts";
import type { SigningKeys } from "./keys.ts";
import { OAuthProblem } from "./oauth-problem.ts";
import type { RefreshTokens } from "./refresh-tokens.ts";
import type { Resources } from "./resources.ts";

export interface TokenEndpointOptions {
  readonly issuer: string;
  readonly codes: AuthorizationCodes;
  readonly grants: Grants;
  readonly keys: SigningKeys;
  readonly refreshTokens: RefreshTokens;
  readonly resources: Resources;
  readonly now: () => number;
  readonly refused: (reason: string) => void;
}

const ACCESS_TOKEN_S = 600;

export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  /** Rejects with an `OAuthProblem`. */
  async issue(form: URLSearchParams): Promise<Response> {
    const twice = [...form.keys()].find((name) => name !== "resource" && form.getAll(name).length > 1);
    if (twice !== undefined) throw new OAuthProblem("invalid_request", "A parameter is there twice");
    switch (form.get("grant_type")) {
      case "authorization_code":
        return this.#exchange(form);
      case "refresh_token":
        return this.#renew(form);
      default:
        throw new OAuthProblem("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
    }
  }

  /** Ends the grant of a token. A token that is not known is no error. */
  async revoke(form: URLSearchParams): Promise<Response> {
    const { grants, refreshTokens, keys, issuer, resources } = this.#options;
    const token = form.get("token") ?? "";
    const audience = [...resources.all];
    const id =
      refreshTokens.read(token)?.grant ?? (await keys.verify(token, { issuer, audience }).catch(() => undefined))?.sub;
    const grant = id === undefined ? undefined : await grants.findAnywhere(id);
    const client = form.get("client_id");
    if (grant && client !== null && client !== grant.clientId) {
      throw new OAuthProblem("invalid_client", "The token is of another client");
    }
    if (grant) await grants.revoke(grant.id);
    return new Response(null, { status: 200, headers: { "cache-control": "no-store" } });
  }

  async #exchange(form: URLSearchParams): Promise<Response> {
    const { codes, grants, now, issuer, refused } = this.#options;
    const redeemed = await codes.redeem(form.get("code") ?? "");
    if (redeemed?.kind === "used") {
      refused(`an authorization code came twice; grant ${redeemed.grant} is revoked`);
      await grants.revoke(redeemed.grant);
    }
    if (redeemed?.kind !== "fresh") throw badGrant();
    const { agreed } = redeemed;
    const why = mismatch(form, agreed);
    if (why !== undefined) {
      refused(`an authorization code for ${agreed.clientHost} was refused: ${why}`);
      throw badGrant();
    }
    this.#checkResource(form, agreed);
    const { grant: id, clientId, clientName, clientHost, resource, scope, profile, server } = agreed;
    const { token, state } = this.#options.refreshTokens.first(id, now());
    const times = { createdAt: now(), usedAt: now() };
    const grant: Grant = {
      id,
      issuer,
      clientId,
      clientName,
      clientHost,
      resource,
      scope,
      ...times,
      refresh: state,
      ...(profile !== undefined && { profile }),
      ...(server !== undefined && { server }),
    };
    if (!(await grants.add(grant))) throw badGrant();
    return this.#answer(grant, token);
  }

  async #renew(form: URLSearchParams): Promise<Response> {
    const { grants, refreshTokens, now, refused } = this.#options;
    const given = refreshTokens.read(form.get("refresh_token") ?? "");
    if (!given) throw badGrant();
    const known = await grants.findAnywhere(given.grant);
    if (!known || clientOf(form) !== known.clientId) throw badGrant();
    this.#checkResource(form, known);
    const renewed = await grants.renew(given, (grant) => refreshTokens.renew(grant, given, now()));
    if (!renewed) throw badGrant();
    if (renewed.kind === "reuse") {
      refused(`an old refresh token came again; grant ${known.id} (${known.clientHost}) is revoked`);
      throw badGrant();
    }
    return this.#answer(known, renewed.token);
  }

  #checkResource(form: URLSearchParams, agreed: Pick<Grant, "resource" | "profile" | "server">): void {
    const given = form.getAll("resource");
    if (given.length === 0) return;
    const { resource, profile, server } = this.#options.resources.named(given);
    const isOther = profile !== undefined && profile !== agreed.profile;
    if (resource !== agreed.resource || isOther || (server !== undefined && server !== agreed.server)) {
      throw new OAuthProblem("invalid_target", "resource is not what the person agreed to");
    }
  }

  async #answer({ id, clientId, resource, scope }: Grant, refreshToken: string): Promise<Response> {
    const { keys, issuer, now } = this.#options;
    const iat = Math.floor(now() / 1000);
    const exp = iat + ACCESS_TOKEN_S;
    const claims = { iss: issuer, sub: id, aud: resource, client_id: clientId, scope, iat, exp, jti: randomUUID() };
    const tokens = {
      access_token: await keys.sign(claims),
      token_type: "Bearer",
      expires_in: ACCESS_TOKEN_S,
      refresh_token: refreshToken,
      scope,
    };
    return Response.json(tokens, { headers: { "cache-control": "no-store", pragma: "no-cache" } });
  }
}

/** Returns why a request may not have the tokens that a person agreed to. */
function mismatch(form: URLSearchParams, { clientId, redirectUri, challenge }: Agreed): string | undefined {
  if (clientOf(form) !== clientId) return "it came from another client";
  // OAuth 2.1 does not ask for it any more, as the verifier proves more.
  const redirect = form.get("redirect_uri");
  if (redirect !== null && redirect !== redirectUri) return "it came with another redirect URI";
  const verifier = form.get("code_verifier") ?? "";
  const digest = createHash("sha256").update(verifier).digest("base64url");
  const isProved = /^[\w.~-]{43,128}$/.test(verifier) && timingSafeEqual(Buffer.from(digest), Buffer.from(challenge));
  return isProved ? undefined : "its verifier is wrong";
}

function clientOf(form: URLSearchParams): string {
  return form.get("client_id") ?? "";
}

function badGrant(): OAuthProblem {
  return new OAuthProblem("invalid_grant", "The code or token is not valid");
}
