/**
 * Finds the principal behind a request's credentials: a configured token, or an access token of a
 * configured OAuth issuer.
 *
 * Invariant: a token that was accepted before costs one hash and one lookup. The lookup is by the
 * token's SHA-256, so its timing reveals nothing about a token. As text, a header is compared only
 * with the one before it on the same connection.
 */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ANYONE, type Principal } from "../../mcp/protocol/principal.ts";
import type { Claims } from "./claims.ts";
import type { OAuthConfig, ResourceServer } from "./resource-server.ts";

export interface NamedToken {
  readonly token?: string | undefined;
  /** `sha256:` and the token's digest in hex, in place of the token. */
  readonly hash?: string | undefined;
  readonly expires?: string | undefined;
  readonly admin: boolean;
}

export interface CredentialsConfig {
  readonly publicUrl?: string | undefined;
  readonly auth: {
    readonly tokens: readonly string[];
    readonly clients: Readonly<Record<string, NamedToken>>;
    readonly oauth?: OAuthConfig | undefined;
    readonly pairing?: boolean;
  };
  readonly admin: { readonly tokens: readonly string[] };
  readonly tls?: object | undefined;
}

/** The parts of an HTTP request that credentials depend on. */
export interface CredentialRequest {
  readonly method: string;
  /** The path of the request, without its query. */
  readonly path: string;
  /** Where it comes from, for the log. */
  readonly network?: string | undefined;
  /** The connection that it came on, if that is known. */
  readonly connection?: object | undefined;
  /** `name` must be in lower case. */
  header(name: string): string | undefined;
}

export type Unidentified =
  | { readonly ok: false; readonly why: "missing" | "unavailable" }
  | { readonly ok: false; readonly why: "invalid"; readonly isBound?: boolean }
  | { readonly ok: false; readonly why: "scope"; readonly scopes: readonly string[] };

export type Identified = { readonly ok: true; readonly principal: Principal } | Unidentified;

/** The gateway as the issuer of tokens for the clients of one person. */
export interface OwnIssuer {
  /** Undefined while it issues none. */
  readonly issuer: string | undefined;
  /** Returns the claims of a token of a grant that has not ended. Rejects any other. */
  verify(token: string): Promise<Claims>;
  /** `grant`: the subject of its tokens. */
  isLive(grant: string): boolean;
}

export interface CredentialsDeps {
  readonly own?: OwnIssuer | undefined;
  readonly now: () => number;
  /** Told of each principal whose credential ends. */
  readonly admitted?: (principal: Principal) => void;
  /** Gets each access token that was accepted, if set. Never called with a configured token. */
  readonly accepted?: ((principal: Principal, token: string) => void) | undefined;
  /** Logs why a token was refused, for the operator. Never called with a token. */
  readonly refused: (reason: string, asked: CredentialRequest) => void;
}

/** The `Authorization` headers that are remembered. */
const MAX_HEADERS = 256;
const MAX_HEADER_LENGTH = 4096;
const MISSING: Unidentified = { ok: false, why: "missing" };
const INVALID: Unidentified = { ok: false, why: "invalid" };

export class Credentials {
  /** Whether clients need no credential. */
  readonly isOpen: boolean;
  /** Whether the API needs no credential. */
  readonly isAdminOpen: boolean;
  readonly #tokens = new Map<string, Identified & { readonly ok: true }>();
  readonly #headers = new Map<string, Shown>();
  readonly #latest = new WeakMap<object, Shown>();
  readonly #oauth: OAuthConfig | undefined;
  readonly #deps: CredentialsDeps;
  #server: Promise<ResourceServer> | undefined;
  #loaded: ResourceServer | undefined;

  /** `before`: what an earlier config gave. Its verified tokens and used proofs are taken over. */
  constructor(config: CredentialsConfig, deps: CredentialsDeps, before?: Credentials) {
    const { tokens, clients, oauth } = config.auth;
    this.#deps = deps;
    const accepted = oauth ?? (config.auth.pairing ? { issuers: [] } : undefined);
    this.#oauth = accepted && withDefaults(accepted, config.publicUrl);
    if (before && isDeepStrictEqual(before.#oauth, this.#oauth)) {
      this.#server = before.#server;
      this.#loaded = before.#loaded;
    }
    for (const token of tokens) this.#add(digestOf(token), tokenHolder(token, false));
    for (const token of config.admin.tokens) this.#add(digestOf(token), tokenHolder(token, true));
    for (const [name, client] of Object.entries(clients)) {
      const digest = client.hash === undefined ? digestOf(client.token!) : client.hash.slice("sha256:".length);
      this.#add(digest, namedHolder(name, client));
    }
    const hasClients = tokens.length > 0 || Object.keys(clients).length > 0 || accepted !== undefined;
    this.isOpen = !hasClients;
    this.isAdminOpen = !hasClients && config.admin.tokens.length === 0;
  }

  identify(asked: CredentialRequest): Identified | Promise<Identified> {
    const shown = this.#shown(asked);
    if (!shown) return MISSING;
    const { token, digest } = shown;
    const holder = this.#tokens.get(digest);
    if (holder) {
      if (holder.principal.expiresAt > this.#deps.now()) return this.#told(holder);
      this.#deps.refused(`the token of "${holder.principal.name}" has expired`, asked);
      return INVALID;
    }
    if (!this.#oauth) {
      this.#deps.refused("a token is not one of gateway.auth", asked);
      return INVALID;
    }
    const given = { token, digest, isProved: shown.scheme === "dpop", asked };
    const found = this.#loaded
      ? this.#loaded.verify(given)
      : this.#load(this.#oauth).then((server) => server.verify(given));
    return found instanceof Promise
      ? found.then((known) => this.#accepted(known, token))
      : this.#accepted(found, token);
  }

  /**
   * A client sends the same header with each request: it is taken apart and hashed once. A lookup
   * hashes it, too, so the one before on the connection comes first: 2 % of a small call.
   */
  #shown(asked: CredentialRequest): Shown | undefined {
    const header = asked.header("authorization") ?? "";
    const { connection } = asked;
    const latest = connection && this.#latest.get(connection);
    if (latest?.header === header) return latest;
    const shown = this.#headers.get(header) ?? this.#takenApart(header);
    if (shown && connection && header.length <= MAX_HEADER_LENGTH) this.#latest.set(connection, shown);
    return shown;
  }

  #takenApart(header: string): Shown | undefined {
    const found = tokenIn(header);
    if (!found) return undefined;
    const shown = { ...found, header, digest: digestOf(found.token) };
    if (this.#headers.size === MAX_HEADERS) this.#headers.clear();
    if (header.length <= MAX_HEADER_LENGTH) this.#headers.set(header, shown);
    return shown;
  }

  #accepted(found: Identified, token: string): Identified {
    if (found.ok) this.#deps.accepted?.(found.principal, token);
    return this.#told(found);
  }

  #told(found: Identified): Identified {
    if (found.ok && found.principal.expiresAt !== Number.POSITIVE_INFINITY) this.#deps.admitted?.(found.principal);
    return found;
  }

  /** Returns whether a principal that was admitted earlier would still be. */
  admits(principal: Principal): boolean {
    if (principal.id === "") return this.isOpen;
    for (const holder of this.#tokens.values()) if (holder.principal.id === principal.id) return true;
    const { own } = this.#deps;
    const ownStart = `${own?.issuer}\u001f`;
    if (own?.issuer !== undefined && principal.id.startsWith(ownStart))
      return own.isLive(principal.id.slice(ownStart.length));
    return this.#oauth?.issuers.some(({ issuer }) => principal.id.startsWith(`${issuer}\u001f`)) ?? false;
  }

  /** Returns the holder of a token as the config names it now, if it is one. */
  holder(id: string): Principal | undefined {
    for (const { principal } of this.#tokens.values()) if (principal.id === id) return principal;
    return undefined;
  }

  /** Forgets the tokens of grants that have ended. */
  forgetEnded(): void {
    this.#loaded?.forget((principal) => !this.admits(principal));
  }

  /** Loads the OAuth code on the first token that needs it. */
  #load(config: OAuthConfig): Promise<ResourceServer> {
    this.#server ??= import("./resource-server.ts").then(({ ResourceServer }) => {
      this.#loaded = new ResourceServer(config, this.#deps);
      return this.#loaded;
    });
    return this.#server;
  }

  #add(digest: string, principal: Principal): void {
    this.#tokens.set(digest, { ok: true, principal });
  }
}

/** A token for the gateway as a whole, or for its main endpoint, is for this gateway. */
function withDefaults(oauth: OAuthConfig, publicUrl: string | undefined): OAuthConfig {
  const url = publicUrl?.replace(/\/$/, "");
  const own = url === undefined ? [] : [url, `${url}/`, `${url}/mcp`];
  const issuers = oauth.issuers.map((issuer) => (issuer.audience.length > 0 ? issuer : { ...issuer, audience: own }));
  return { ...oauth, issuers, publicUrl: url };
}

/** What an `Authorization` header shows. */
interface Shown {
  readonly header: string;
  readonly scheme: string;
  readonly token: string;
  readonly digest: string;
}

function tokenIn(header: string): Pick<Shown, "scheme" | "token"> | undefined {
  const space = header.indexOf(" ");
  const scheme = header.slice(0, Math.max(space, 0)).toLowerCase();
  if (scheme !== "bearer" && scheme !== "dpop") return undefined;
  const token = header.slice(space).trim();
  return token === "" || token.includes(" ") ? undefined : { scheme, token };
}

function digestOf(token: string): string {
  return hash("sha256", token, "hex");
}

function tokenHolder(token: string, isAdmin: boolean): Principal {
  // A name for the holder that does not reveal the token.
  const id = `token:${digestOf(`principal ${token}`).slice(0, 12)}`;
  return { ...ANYONE, id, name: id, isAdmin };
}

function namedHolder(name: string, { admin, expires }: NamedToken): Principal {
  const expiresAt = expires === undefined ? ANYONE.expiresAt : Date.parse(expires);
  return { ...ANYONE, id: `client:${name}`, name, isAdmin: admin, expiresAt };
}
