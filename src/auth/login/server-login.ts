/**
 * The login of one server in a running gateway: the Authorization header of its requests.
 *
 * A token is renewed ahead of its end. If that fails, the token stays in use as long as the server
 * accepts it. When the server refuses it, one renewal is tried; then the server needs a login.
 */
import type { CredentialRefusal, Credentials, Verdict } from "../../mcp/links/http/credentials.ts";
import { GoblinError, messageOf } from "../../mcp/protocol/errors.ts";
import { readChallenge } from "./challenge.ts";
import { canonicalUrl, type LoginTarget } from "./discovery.ts";
import { type Login, type LoginBook, wantedKey } from "./store.ts";
import { RenewalError } from "./tokens/renewal.ts";

export interface ServerLoginOptions {
  readonly target: LoginTarget;
  /** Whose login it is; empty: the gateway's, for all clients. */
  readonly owner: string;
  /** The server has no login of this owner: each caller has its own. */
  readonly isForCallers?: boolean;
  /** Tokens are renewed when they are used: that needs the caller. */
  readonly isLazy?: boolean;
  /** Returns the login with new tokens; one request serves all who ask at the same time. */
  readonly renew: (login: Login) => Promise<Login>;
  /** Gets tokens without a person, other ones than these; undefined: somebody must log in. */
  readonly obtain: ((known: Login | undefined) => Promise<Login>) | undefined;
  /** Remembers the scopes that the next login must ask for. */
  readonly want: (scopes: readonly string[]) => Promise<void>;
  readonly warn: (message: string) => void;
  /** Its secrets are others now. */
  readonly changed: () => void;
  readonly closed: (login: ServerLogin) => void;
}

/** The share of a token's life after which it is renewed, plus or minus the jitter. */
const RENEW_AT = 0.8;
const JITTER = 0.05;
const RETRY_MS = 30_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export class ServerLogin implements Credentials {
  readonly target: LoginTarget;
  readonly #options: ServerLoginOptions;
  readonly #url: string;
  #login: Login | undefined;
  #header: string | undefined;
  #missing: readonly string[] = [];
  /** The server does nothing until somebody has logged in. */
  #isMissed = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** A user logged in, or more scopes are there. */
  onLogin: () => void = () => {};
  /** What the server wants beyond the login it has, or undefined. */
  onProblem: (problem: string | undefined) => void = () => {};

  constructor(options: ServerLoginOptions) {
    this.target = options.target;
    this.#options = options;
    this.#url = canonicalUrl(options.target.url);
  }

  get owner(): string {
    return this.#options.owner;
  }

  /** What a person should log in for, in words; undefined: nothing. */
  get wants(): string | undefined {
    if (this.#options.obtain || this.#options.isForCallers) return undefined;
    if (this.#missing.length > 0) return `It wants more scopes: ${this.#missing.join(" ")}`;
    return this.#isMissed ? `It wants a login before it does anything (${new URL(this.#url).host})` : undefined;
  }

  get header(): string | undefined {
    return this.#header;
  }

  /** The values that must not appear in errors or in the log. */
  get secrets(): string[] {
    const { accessToken, refreshToken, client } = this.#login ?? {};
    return [accessToken, refreshToken, client?.clientSecret, client?.privateKey].filter((value) => value !== undefined);
  }

  /** Takes over what the store holds now. */
  update({ logins, wanted }: LoginBook): void {
    const found = logins.find((login) => this.#isMine(login));
    const isNew = found !== undefined && found.loggedInAt !== this.#login?.loggedInAt;
    if (found?.accessToken !== this.#login?.accessToken || isNew) this.#use(found);
    if (wanted[wantedKey(this.#url, this.owner)] === undefined && this.#missing.length > 0) {
      this.#missing = [];
      this.onProblem(undefined);
    }
    if (!isNew) return;
    this.#isMissed = false;
    this.onLogin();
  }

  /** Renews a token that is about to end, before a connection is made with it. */
  async ready(): Promise<void> {
    const login = this.#login;
    if (this.#options.isForCallers) throw this.#required();
    if (!login) return this.#options.obtain && this.#obtain(undefined);
    if (!this.#isRenewable(login) || renewAt(login) > Date.now()) return;
    await this.#renew(login).catch(() => {});
  }

  async refused({ status, header, challenge, wasRepeated }: CredentialRefusal): Promise<Verdict> {
    const { auth } = this.target;
    const asked = readChallenge(challenge);
    if (status === 403) {
      if (asked?.error !== "insufficient_scope") return "unknown";
      const refusal = await this.#wantMore(asked.scopes);
      return this.#options.obtain ? this.#other(wasRepeated) : refusal;
    }
    if (!asked && auth.type !== "oauth" && header === undefined) return "unknown";
    const login = this.#login;
    if (login && this.#header !== header) return "again";
    if (this.#options.obtain) return this.#other(wasRepeated);
    if (!login?.refreshToken || wasRepeated) return this.#required();
    try {
      await this.#renew(login);
      return "again";
    } catch (error) {
      if (error instanceof RenewalError && error.isFinal) return this.#required();
      const data = { serverId: this.target.id };
      return new GoblinError("BACKEND_UNAVAILABLE", `Server "${this.target.id}": ${messageOf(error)}`, { data });
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#options.closed(this);
  }

  /** A login of another client or issuer than the config names now is not used. */
  #isMine({ url, principal, issuer, client, resource }: Login): boolean {
    const { auth } = this.target;
    const isNamed = typeof auth.resource === "string" && auth.resource !== "auto";
    return (
      this.#options.isForCallers !== true &&
      url === this.#url &&
      principal === this.#options.owner &&
      (auth.issuer === undefined || auth.issuer === issuer) &&
      (auth.clientId === undefined || auth.clientId === client.clientId) &&
      (!isNamed || auth.resource === resource)
    );
  }

  #isRenewable({ refreshToken }: Login): boolean {
    return refreshToken !== undefined || this.#options.obtain !== undefined;
  }

  /** Gets another token in place of a refused one. */
  async #other(wasRepeated: boolean): Promise<Verdict> {
    if (wasRepeated) return this.#unusable("the server refuses the token that the authorization server gave");
    try {
      await this.#obtain(this.#login);
      return "again";
    } catch (error) {
      return error as GoblinError;
    }
  }

  /** Rejects with a GoblinError. */
  async #obtain(known: Login | undefined): Promise<void> {
    try {
      const login = await this.#options.obtain!(known);
      if (!this.#closed && login.accessToken !== this.#login?.accessToken) this.#use(login);
    } catch (error) {
      throw this.#unusable(messageOf(error));
    }
  }

  #unusable(why: string): GoblinError {
    const { id: serverId } = this.target;
    const message = why.startsWith("Login to server") ? why : `Server "${serverId}": ${why}`;
    return new GoblinError("BACKEND_UNAVAILABLE", message, { data: { serverId } });
  }

  #required(): GoblinError {
    this.#isMissed = true;
    const { id: serverId } = this.target;
    if (this.#options.isForCallers || this.owner !== "") {
      const message = `Server "${serverId}" needs a login of each caller`;
      return new GoblinError("LOGIN_REQUIRED", message, { data: { serverId }, reason: "login" });
    }
    return loginRequired(serverId);
  }

  async #wantMore(scopes: readonly string[]): Promise<Verdict> {
    const all = [...new Set([...(this.#login?.scopes ?? []), ...scopes])];
    if (all.some((scope) => !this.#missing.includes(scope))) {
      this.#missing = all;
      await this.#options.want(all).catch((error) => this.#options.warn(messageOf(error)));
    }
    const { id } = this.target;
    const advice = this.owner === "" ? `: run "${remedyFor(id)}"` : "";
    const problem = `some calls need more scopes (${scopes.join(" ")})${advice}`;
    if (!this.#options.obtain) this.onProblem(problem);
    // Without a login there is nothing that this server does at all.
    const reason = this.#login ? undefined : "login";
    const data = { serverId: id, scopes, ...(this.owner === "" && { remedy: remedyFor(id) }) };
    return new GoblinError("LOGIN_REQUIRED", `Server "${id}": ${problem}`, { data, reason });
  }

  async #renew(login: Login): Promise<void> {
    const next = await this.#options.renew(login);
    if (!this.#closed && next.accessToken !== this.#login?.accessToken) this.#use(next);
  }

  #use(login: Login | undefined): void {
    this.#login = login;
    this.#header = login && `Bearer ${login.accessToken}`;
    this.#options.changed();
    clearTimeout(this.#timer);
    if (this.#options.isLazy) return;
    if (login && this.#isRenewable(login) && login.expiresAt !== undefined) this.#renewIn(renewAt(login) - Date.now());
  }

  #renewIn(ms: number): void {
    if (this.#closed) return;
    const wait = Math.min(Math.max(ms, 0), MAX_TIMER_MS);
    this.#timer = setTimeout(() => void this.#renewAhead(), wait).unref();
  }

  async #renewAhead(): Promise<void> {
    const login = this.#login;
    if (!login) return;
    try {
      await this.#renew(login);
    } catch (error) {
      this.#options.warn(`Server "${this.target.id}": ${messageOf(error)}`);
      const isFinal = error instanceof RenewalError && error.isFinal;
      if (!isFinal && this.#login === login) this.#renewIn(RETRY_MS * (1 + Math.random()));
    }
  }
}

/** When to renew a token: well before its end, and not at the same moment as others. */
function renewAt({ obtainedAt, expiresAt }: Login): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  const share = RENEW_AT + JITTER * (2 * Math.random() - 1);
  return obtainedAt + (expiresAt - obtainedAt) * share;
}

function remedyFor(serverId: string): string {
  return `goblin login ${serverId}`;
}

function loginRequired(serverId: string): GoblinError {
  const message = `Server "${serverId}" needs a login: run "${remedyFor(serverId)}"`;
  return new GoblinError("LOGIN_REQUIRED", message, {
    data: { serverId, remedy: remedyFor(serverId) },
    reason: "login",
  });
}
