/**
 * One OAuth issuer: verifies its JWTs by its keys, and asks it about its opaque tokens.
 *
 * Keys are fetched on demand, once for all requests that wait, and again at most every 30 seconds.
 * The number of questions about opaque tokens at one time is bounded.
 */
import * as jose from "jose";
import { basicCredentials } from "../../lib/text/basic-credentials.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Claims } from "./claims.ts";
import { IssuerMetadata, readJson, Unavailable } from "./issuer-metadata.ts";
import type { IssuerConfig } from "./resource-server.ts";

/** How far clocks may differ. */
export const SKEW_S = 60;
const MAX_QUESTIONS = 50;
const TYPES: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt"]);

export class Issuer {
  readonly config: IssuerConfig;
  readonly #metadata: IssuerMetadata;
  #keys: { readonly uri: string; readonly get: jose.JWTVerifyGetKey } | undefined;
  #questions = 0;

  constructor(config: IssuerConfig, now: () => number) {
    this.config = config;
    this.#metadata = new IssuerMetadata(config.issuer, now);
  }

  /** `audiences`: those that are accepted besides the ones of the config. */
  async verify(
    token: string,
    { now, audiences }: { readonly now: Date; readonly audiences: readonly string[] },
  ): Promise<Claims> {
    const keys = await this.#keySet();
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
      issuer: this.config.issuer,
      audience: [...this.config.audience, ...audiences],
      algorithms: [...this.config.algorithms],
      clockTolerance: SKEW_S,
      currentDate: now,
      requiredClaims: ["exp"],
    });
    const { typ } = protectedHeader;
    if (typ !== undefined && !TYPES.has(typ.toLowerCase())) throw new Error(`a token has the type "${typ}"`);
    return payload as Claims;
  }

  /** Asks about an opaque token (RFC 7662). Returns undefined if it is not active. */
  async introspect(token: string): Promise<Claims | undefined> {
    const { issuer, audience } = this.config;
    if (this.#questions >= MAX_QUESTIONS) throw new Unavailable(`${issuer} has ${MAX_QUESTIONS} questions to answer`);
    this.#questions++;
    let claims: Record<string, unknown>;
    try {
      claims = await this.#question(token);
    } finally {
      this.#questions--;
    }
    if (claims["active"] !== true) return undefined;
    if (claims["iss"] !== undefined && claims["iss"] !== issuer) {
      throw new Error(`${issuer} vouches for a token of ${JSON.stringify(claims["iss"])}`);
    }
    if (![claims["aud"]].flat().some((value) => audience.includes(value as string))) {
      throw new Error(`a token of ${issuer} is for the audience ${JSON.stringify(claims["aud"])}`);
    }
    return claims as Claims;
  }

  async #question(token: string): Promise<Record<string, unknown>> {
    const { clientId, clientSecret, endpoint } = this.config.introspect!;
    const url = endpoint ?? (await this.#metadata.read())["introspection_endpoint"];
    if (typeof url !== "string") throw new Unavailable(`${this.config.issuer} has no introspection endpoint`);
    return readJson(url, {
      method: "POST",
      headers: {
        authorization: basicCredentials(clientId, clientSecret),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    });
  }

  async #keySet(): Promise<jose.JWTVerifyGetKey> {
    const { issuer, jwksUri } = this.config;
    const uri = jwksUri ?? (await this.#metadata.read())["jwks_uri"];
    if (typeof uri !== "string" || !URL.canParse(uri)) throw new Unavailable(`${issuer} publishes no jwks_uri`);
    if (this.#keys?.uri !== uri) this.#keys = { uri, get: remoteKeys(issuer, uri) };
    return this.#keys.get;
  }
}

function remoteKeys(issuer: string, uri: string): jose.JWTVerifyGetKey {
  const remote = jose.createRemoteJWKSet(new URL(uri), { timeoutDuration: 5000, cooldownDuration: 30_000 });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const isToken = error instanceof jose.errors.JWKSNoMatchingKey || error instanceof jose.errors.JOSENotSupported;
      if (isToken) throw error;
      throw new Unavailable(`the keys of ${issuer} cannot be fetched: ${messageOf(error)}`);
    }
  };
}
