/**
 * The OAuth 2.1 resource server: verifies access tokens of the configured issuers.
 *
 * Invariant: a token is accepted only if it is signed by a key of the issuer that it names (or that
 * issuer calls it active), is for this gateway, and is valid now. A refused token reveals nothing;
 * the reason goes to the log. A verified token is remembered until it expires, by its digest.
 */
import * as jose from "jose";
import { isRecord } from "../../lib/structures/record.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { type Claims, principalOf } from "./claims.ts";
import type { CredentialRequest, CredentialsDeps, Identified, OwnIssuer } from "./credentials.ts";
import { Proofs } from "./dpop.ts";
import { endpointAudiences, endpointPath, endpointsOf, limitedTo } from "./endpoint-audience.ts";
import { Issuer, SKEW_S } from "./issuer.ts";
import { Unavailable } from "./issuer-metadata.ts";

export interface IssuerConfig {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly jwksUri?: string | undefined;
  readonly algorithms: readonly string[];
  readonly requiredScopes: readonly string[];
  readonly groups?: string | undefined;
  readonly introspect?:
    | {
        readonly endpoint?: string | undefined;
        readonly clientId: string;
        readonly clientSecret: string;
      }
    | undefined;
}

export interface OAuthConfig {
  readonly issuers: readonly IssuerConfig[];
  readonly adminScope?: string | undefined;
  /** The scopes and groups that open a profile. */
  readonly profiles?: Readonly<Record<string, { readonly scopes: readonly string[] }>> | undefined;
  /** The gateway's own URL, as proofs of possession name it. */
  readonly publicUrl?: string | undefined;
}

export interface Given {
  readonly token: string;
  readonly digest: string;
  /** Whether the token came with the DPoP scheme. */
  readonly isProved: boolean;
  readonly asked: CredentialRequest;
}

interface Verified {
  readonly answer: Identified & { readonly ok: true };
  /** Until when the token may be used without asking again. */
  readonly until: number;
  /** The thumbprint of the key that the token is bound to. */
  readonly key: string | undefined;
  /** The endpoints that the token is for; undefined: all. */
  readonly endpoints: ReadonlySet<string> | undefined;
}

const MAX_REMEMBERED = 10_000;
/** An issuer may revoke an opaque token at any time, so it is asked again this often. */
const INTROSPECTED_MS = 60_000;
/** The end of a token whose issuer does not tell it, unless it is used again before. */
const UNTOLD_MS = 3_600_000;
const INVALID: Identified = { ok: false, why: "invalid" };
const UNAVAILABLE: Identified = { ok: false, why: "unavailable" };

export class ResourceServer {
  readonly #config: OAuthConfig;
  readonly #deps: CredentialsDeps;
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #verified = new Map<string, Verified>();
  readonly #running = new Map<string, Promise<Verified | Identified>>();
  readonly #proofs: Proofs;

  constructor(config: OAuthConfig, deps: CredentialsDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#issuers = new Map(config.issuers.map((issuer) => [issuer.issuer, new Issuer(issuer, deps.now)]));
    this.#proofs = new Proofs({ now: deps.now, skewMs: SKEW_S * 1000, publicUrl: config.publicUrl });
  }

  verify(given: Given): Identified | Promise<Identified> {
    const known = this.#verified.get(given.digest);
    if (known && known.until > this.#deps.now()) {
      return this.#answer(given, known);
    }
    this.#verified.delete(given.digest);
    return this.#verifyNew(given);
  }

  async #verifyNew(given: Given): Promise<Identified> {
    // Requests with the same new token share one verification.
    let running = this.#running.get(given.digest);
    if (!running) {
      running = this.#ask(given).finally(() => this.#running.delete(given.digest));
      this.#running.set(given.digest, running);
    }
    const found = await running;
    if (!("until" in found)) return found;
    return this.#answer(given, found);
  }

  /** Answers a request with a token that is genuine. */
  #answer(given: Given, known: Verified): Identified | Promise<Identified> {
    const { answer, key, endpoints } = known;
    if (endpoints && !endpoints.has(endpointPath(given.asked.path) ?? "")) {
      this.#deps.refused(`a token of ${answer.principal.name} is for another endpoint`, given.asked);
      return INVALID;
    }
    return key === undefined && !given.isProved ? answer : this.#proved(given, known);
  }

  async #ask({ token, digest, asked }: Given): Promise<Verified | Identified> {
    try {
      const claims = await this.#claims(token);
      if (claims.isLive?.() === false) throw new Error("a token is of a grant that has ended");
      const missing = claims.issuer.requiredScopes.filter((scope) => !claims.principal.scopes?.has(scope));
      if (missing.length > 0) {
        this.#deps.refused(`a token of ${claims.principal.name} lacks the scopes ${missing.join(" ")}`, asked);
        return { ok: false, why: "scope", scopes: claims.issuer.requiredScopes };
      }
      const verified: Verified = {
        answer: { ok: true, principal: claims.principal },
        until: claims.until,
        key: claims.key,
        endpoints: claims.endpoints,
      };
      this.#remember(digest, verified);
      return verified;
    } catch (error) {
      this.#deps.refused(messageOf(error), asked);
      return error instanceof Unavailable ? UNAVAILABLE : INVALID;
    }
  }

  #remember(digest: string, verified: Verified): void {
    if (this.#verified.size >= MAX_REMEMBERED) {
      for (const oldest of this.#verified.keys()) {
        this.#verified.delete(oldest);
        break;
      }
    }
    this.#verified.set(digest, verified);
  }

  /** Checks the proof of possession that a bound token needs. */
  async #proved(given: Given, { answer, key }: Verified): Promise<Identified> {
    try {
      if (key === undefined) throw new Error("the token is not bound to a key, but came with the DPoP scheme");
      if (!given.isProved) throw new Error("the token is bound to a key, but came as a bearer token");
      await this.#proofs.check(given, key);
      return answer;
    } catch (error) {
      this.#deps.refused(`${answer.principal.name}: ${messageOf(error)}`, given.asked);
      return { ok: false, why: "invalid", isBound: true };
    }
  }

  /** Forgets verified tokens, by their principal. */
  forget(isEnded: (principal: Principal) => boolean): void {
    for (const [digest, { answer }] of this.#verified) {
      if (isEnded(answer.principal)) this.#verified.delete(digest);
    }
  }

  async #claims(token: string): Promise<Established> {
    const named = issuerIn(token);
    if (named === undefined) return this.#introspected(token);
    const { own } = this.#deps;
    if (own?.issuer === named) return this.#issuedHere(own, token);
    const issuer = this.#issuers.get(named);
    if (!issuer)
      throw new Error(`a token names the issuer ${JSON.stringify(named.slice(0, 200))}, which is not configured`);
    const audiences = endpointAudiences(jose.decodeJwt(token).aud, this.#config.publicUrl);
    const claims = await issuer.verify(token, { now: new Date(this.#deps.now()), audiences });
    const end = claims.exp! * 1000;
    return this.#establish(issuer.config, claims, { end, until: end });
  }

  async #issuedHere(own: OwnIssuer, token: string): Promise<Established> {
    const claims = await own.verify(token);
    const config = { issuer: String(claims["iss"]), audience: [], algorithms: [], requiredScopes: [] };
    const end = claims.exp! * 1000;
    // No token of a paired client opens the API.
    const named = principalOf(claims, { config, adminScope: undefined, expiresAt: end });
    const { profile, server } = claims;
    const principal = typeof profile === "string" ? { ...named, profiles: [profile] } : named;
    // A grant may end while its token is checked.
    const isLive = (): boolean => own.isLive(claims.sub!);
    const endpoints = typeof server === "string" ? endpointsOf(server) : undefined;
    return { issuer: config, principal, until: end, key: undefined, endpoints, isLive };
  }

  /** At most one issuer is asked about opaque tokens: none of them may see those of another. */
  async #introspected(token: string): Promise<Established> {
    const issuer = [...this.#issuers.values()].find(({ config }) => config.introspect);
    const claims = await issuer?.introspect(token);
    if (!issuer || !claims) throw new Error("a token is neither a JWT nor active at an issuer with introspection");
    const now = this.#deps.now();
    const end = typeof claims.exp === "number" ? claims.exp * 1000 : now + UNTOLD_MS;
    if (end <= now) throw new Error(`${issuer.config.issuer} calls a token active that has expired`);
    return this.#establish(issuer.config, claims, { end, until: Math.min(end, now + INTROSPECTED_MS) });
  }

  /** `end`: of the token; `until`: of what is known about it. */
  #establish(config: IssuerConfig, claims: Claims, { end, until }: { end: number; until: number }): Established {
    const principal = principalOf(claims, { config, adminScope: this.#config.adminScope, expiresAt: end });
    const key = boundKey(claims, config.issuer);
    const { publicUrl } = this.#config;
    const endpoints = limitedTo(claims["aud"], { accepted: config.audience, publicUrl });
    return { issuer: config, principal, until, key, endpoints };
  }
}

interface Established {
  readonly issuer: IssuerConfig;
  readonly principal: Principal;
  readonly until: number;
  readonly key: string | undefined;
  readonly endpoints: ReadonlySet<string> | undefined;
  readonly isLive?: () => boolean;
}

/**
 * Returns the key that a token is bound to; undefined if it is a plain bearer token. Throws if the
 * token is bound to something that is not checked here, such as a client certificate (RFC 8705).
 */
function boundKey({ cnf }: Claims, issuer: string): string | undefined {
  if (cnf === undefined) return undefined;
  const key = isRecord(cnf) && Object.keys(cnf).length === 1 ? cnf["jkt"] : undefined;
  if (typeof key === "string" && key !== "") return key;
  throw new Error(`a token of ${issuer} is bound to its sender in a way that is not supported: only DPoP is (cnf.jkt)`);
}

/** Returns the issuer that a JWT names, unverified; undefined if the token is not a JWT. */
function issuerIn(token: string): string | undefined {
  let claims: jose.JWTPayload;
  try {
    claims = jose.decodeJwt(token);
  } catch {
    return undefined;
  }
  // Nobody knows whose it is, so no issuer may see it.
  if (typeof claims.iss !== "string") throw new Error("a token is a JWT that names no issuer");
  return claims.iss;
}
