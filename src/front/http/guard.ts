/**
 * Decides who may talk to the gateway. Every HTTP request passes here first.
 *
 * A page in a browser must not reach a gateway on the user's machine. So the Host header must name
 * an allowed address (DNS rebinding), and an Origin header must be allowed. If credentials are
 * configured, every request except health checks and preflights needs one. The API has its own
 * right: a client's token does not open the API, and an admin's opens everything. A refusal reveals
 * nothing about the gateway's servers.
 */

import { EventEmitter } from "node:events";
import { challenge } from "../../auth/identity/challenge.ts";
import {
  type CredentialRequest,
  Credentials,
  type CredentialsConfig,
  type Identified,
} from "../../auth/identity/credentials.ts";
import { Expiries } from "../../auth/identity/expiries.ts";
import { PageSessions } from "../../auth/identity/page-sessions.ts";
import type { Pairing } from "../../auth/pairing/pairing.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import { isLoopback } from "../../lib/text/loopback.ts";
import { Throttle } from "../../lib/timing/throttle.ts";
import { ANYONE, type Principal } from "../../mcp/protocol/principal.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { type Cors, createCors } from "./cors.ts";

export interface GuardConfig extends CredentialsConfig {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly admin: { readonly tokens: readonly string[]; readonly host?: string | undefined };
}

export interface Denial {
  readonly ok: false;
  readonly status: 401 | 403 | 503;
  readonly message: string;
  /** The WWW-Authenticate header. */
  readonly challenge?: string | undefined;
}

/** What the statuses of a denial are called on plain HTTP routes. */
export const denialCodes = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 503: "UNAVAILABLE" } as const;

export type Verdict = { readonly ok: true; readonly principal: Principal } | Denial;

export interface Guard {
  /** Checks only Host and Origin, for routes that need no credential. */
  place(asked: Pick<CredentialRequest, "header">): Denial | undefined;
  /** A promise only for an access token that is not known yet. */
  client(asked: CredentialRequest): Verdict | Promise<Verdict>;
  /** The same for a request whose Host and Origin another replica has checked. */
  handedOver(asked: CredentialRequest): Verdict | Promise<Verdict>;
  admin(asked: CredentialRequest): Verdict | Promise<Verdict>;
  /** Refuses a token that needs one of these scopes for what it asks. */
  insufficient(asked: CredentialRequest, scopes: readonly string[]): Denial;
  /** Returns whether this config still admits a principal that an earlier config admitted. */
  admits(principal: Principal, right: "client" | "admin"): boolean;
  readonly cors: Cors;
}

const NO_HOST = "The request has no Host header";
const ALLOW_HOST = 'add it to "gateway.allowedHosts"';
const NO_ADMIN =
  'The API needs an admin token: set "gateway.admin.tokens", or "admin" of a client in "gateway.auth.clients"';
const NOT_ADMIN = "This token does not open the API: use an admin token";
const OPEN: Verdict = { ok: true, principal: ANYONE };

export function createGuard(config: GuardConfig, credentials: Credentials, pages?: PageSessions): Guard {
  const hosts = new Set(config.allowedHosts.map(hostName));
  const isLocal = isLoopback(config.host);
  if (config.publicUrl !== undefined) hosts.add(hostName(new URL(config.publicUrl).host));
  // A gateway on a public interface cannot know the names it is reached by. Tokens protect it, and
  // allowedHosts if set.
  const anyHost = !isLocal && config.allowedHosts.length === 0;
  hosts.add(hostName(config.host));
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));
  const anyOrigin = origins.has("*");
  const hasAdmins = config.admin.tokens.length > 0 || Object.values(config.auth.clients).some(({ admin }) => admin);

  /** The Host header that was allowed last. Nearly all requests have the same one. */
  let allowed: string | undefined;

  const place = (asked: Pick<CredentialRequest, "header">): Denial | undefined => {
    const host = asked.header("host");
    if (!anyHost && (host === undefined || host !== allowed)) {
      const name = host === undefined ? undefined : hostName(host);
      if (name === undefined || !(isLoopback(name) || hosts.has(name))) {
        return refuse(403, name === undefined ? NO_HOST : `Host ${quoted(name)} not allowed: ${ALLOW_HOST}`);
      }
      allowed = host;
    }
    const origin = asked.header("origin")?.toLowerCase();
    if (origin !== undefined && !anyOrigin && !origins.has(origin) && !isLoopbackOrigin(origin)) {
      return refuse(403, `Origin ${quoted(origin)} not allowed: add it to "gateway.allowedOrigins"`);
    }
    return undefined;
  };
  const judge = (asked: CredentialRequest, found: Identified): Verdict =>
    found.ok ? found : denial(config, asked, found);
  const authenticate = (asked: CredentialRequest): Verdict | Promise<Verdict> => {
    const found = credentials.identify(asked);
    return found instanceof Promise ? found.then((known) => judge(asked, known)) : judge(asked, found);
  };
  const requireAdmin = (verdict: Verdict): Verdict => {
    if (!verdict.ok || verdict.principal.isAdmin) return verdict;
    return refuse(403, hasAdmins ? NOT_ADMIN : NO_ADMIN);
  };

  const admits = (principal: Principal, right: "client" | "admin"): boolean => {
    if (right === "client") return credentials.admits(principal);
    if (credentials.isAdminOpen) return principal.id === "";
    return principal.isAdmin && credentials.admits(principal);
  };
  /** Returns the admin whose page in a browser sent the request. */
  const visitor = (asked: CredentialRequest): Principal | undefined => {
    const found = asked.header("authorization") === undefined ? pages?.principal(asked) : undefined;
    if (!found) return undefined;
    // What the config says now counts, not what it said when the browser came.
    const now = credentials.holder(found.id) ?? found;
    return admits(now, "admin") && now.expiresAt > Date.now() ? now : undefined;
  };

  return {
    place,
    admits,
    cors: createCors(config.allowedOrigins),
    client: (asked) => place(asked) ?? (credentials.isOpen ? OPEN : authenticate(asked)),
    handedOver: (asked) => (credentials.isOpen ? OPEN : authenticate(asked)),
    admin(asked) {
      const refused = place(asked);
      if (refused) return refused;
      if (credentials.isAdminOpen) return OPEN;
      const page = visitor(asked);
      if (page) return { ok: true, principal: page };
      const verdict = authenticate(asked);
      return verdict instanceof Promise ? verdict.then(requireAdmin) : requireAdmin(verdict);
    },
    insufficient: (asked, scopes) => denial(config, asked, { ok: false, why: "scope", scopes }),
  };
}

export interface GuardEvents {
  /** The config admits other principals than before. */
  changed: [];
  /** Time has passed: streams of principals that are not live any more must end. */
  expired: [isLive: (principal: Principal) => boolean];
}

export interface GuardParts {
  /** Signs a text; the signature outlives the process, if it has a state folder. */
  readonly mark: (text: string) => string;
  readonly pairing: Pairing | undefined;
  /** Gets each access token that was accepted. */
  readonly onToken?: ((principal: Principal, token: string) => void) | undefined;
}

/** The guards for the current config, one for each address: the API may have its own address. */
export class LiveGuards extends EventEmitter<GuardEvents> {
  /** The sessions of browsers. */
  readonly pages: PageSessions;
  #main: Guard;
  #admin: Guard;
  readonly #expiries = new Expiries((isLive) => this.emit("expired", isLive));
  readonly #pairing: Pairing | undefined;

  constructor(config: LiveConfig, log: Logger, { mark, pairing, onToken }: GuardParts) {
    super();
    this.pages = new PageSessions(mark);
    this.#pairing = pairing;
    // A flood of bad tokens must not flood the log.
    const lines = new Throttle({ burst: 10, everyMs: 1000 });
    const refused = (reason: string, { network }: CredentialRequest): void => {
      const heldBack = lines.pass();
      if (heldBack === undefined) return;
      log.warn({ reason, from: network || undefined, ...(heldBack > 0 && { heldBack }) }, "Refused a token");
    };
    const admitted = (principal: Principal): void => this.#expiries.note(principal);
    const accepted = (principal: Principal, token: string): void => onToken?.(principal, token);
    const deps = { now: Date.now, refused, admitted, accepted, own: pairing };
    let credentials: Credentials | undefined;
    const build = (): { readonly main: Guard; readonly admin: Guard } => {
      const { gateway, profiles } = config.current;
      pairing?.apply({ ...gateway, profiles: Object.keys(profiles) });
      if (gateway.auth.pairing && !pairing)
        log.warn("gateway.auth.pairing works only with goblin serve: nobody gets in");
      credentials = new Credentials(gateway, deps, credentials);
      return {
        main: createGuard(gateway, credentials, this.pages),
        admin: createGuard(adminAddress(gateway), credentials, this.pages),
      };
    };
    ({ main: this.#main, admin: this.#admin } = build());
    config.on("changed", () => {
      ({ main: this.#main, admin: this.#admin } = build());
      this.emit("changed");
    });
    pairing?.on("ended", () => {
      credentials?.forgetEnded();
      this.emit("changed");
    });
  }

  close(): void {
    this.#expiries.close();
    this.#pairing?.close();
  }

  get main(): Guard {
    return this.#main;
  }

  get admin(): Guard {
    return this.#admin;
  }
}

function adminAddress(config: GuardConfig): GuardConfig {
  return { ...config, host: config.admin.host ?? "127.0.0.1" };
}

/** Words a refusal for the client. It says nothing that would help to forge a token. */
function denial(config: GuardConfig, asked: CredentialRequest, refusal: Exclude<Identified, { ok: true }>): Denial {
  const header = challenge(config, asked, refusal);
  switch (refusal.why) {
    case "missing":
      return { ...refuse(401, "A bearer token is required"), challenge: header };
    case "invalid":
      return { ...refuse(401, "The bearer token is not valid"), challenge: header };
    case "scope":
      return { ...refuse(403, `The token lacks a scope of: ${refusal.scopes.join(" ")}`), challenge: header };
    case "unavailable":
      return refuse(503, "The token cannot be checked now; try again later");
  }
}

function refuse(status: Denial["status"], message: string): Denial {
  return { ok: false, status, message };
}

/** Quotes the client's text, cut to a safe length for an error. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/**
 * Returns the host without its port, in lower case. A bracketed address followed by anything except
 * a port is not parsed as an address.
 */
function hostName(host: string): string {
  const lower = host.toLowerCase();
  return /^(\[[^\]]*\]|[^[].*?)(:\d*)?$/s.exec(lower)?.[1] ?? lower;
}

function isLoopbackOrigin(origin: string): boolean {
  try {
    return isLoopback(new URL(origin).hostname);
  } catch {
    return false;
  }
}
