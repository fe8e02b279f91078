/**
 * Decides who may talk to the gateway. Every HTTP request passes here first.
 *
 * A page in a browser must not reach a gateway on the user's machine. So the Host header must name
 * an allowed address (DNS rebinding), and an Origin header must be allowed. If tokens are
 * configured, every request except health checks and preflights needs one; they are compared in
 * constant time. The API has its own tokens: a client token does not open the API, and an admin
 * token opens everything. A refusal reveals nothing about the gateway's servers.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../../config/live-config.ts";
import { isLoopback } from "../../text/loopback.ts";
import { type Cors, createCors } from "./cors.ts";

export interface GuardConfig {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly auth: { readonly tokens: readonly string[] };
  readonly admin: { readonly tokens: readonly string[]; readonly host?: string | undefined };
}

export interface Denial {
  readonly ok: false;
  readonly status: 401 | 403;
  readonly message: string;
}

export type Verdict = { readonly ok: true; readonly principal: string } | Denial;

type Header = (name: string) => string | undefined;

export interface Guard {
  /** Checks only Host and Origin, for routes that need no token. */
  place(header: Header): Denial | undefined;
  client(header: Header): Verdict;
  admin(header: Header): Verdict;
  /** Returns whether this config still admits a principal that an earlier config admitted. */
  admits(principal: string, right: "client" | "admin"): boolean;
  readonly cors: Cors;
}

const NO_HOST = "The request has no Host header";
const ALLOW_HOST = 'add it to "gateway.allowedHosts"';
const NO_ADMIN = 'The API needs an admin token: set "gateway.admin.tokens" and use one of them';
const NOT_ADMIN = 'This token does not open the API: use one of "gateway.admin.tokens"';

export function createGuard(config: GuardConfig): Guard {
  const hosts = new Set(config.allowedHosts.map(hostName));
  const isLocal = isLoopback(config.host);
  // A gateway on a public interface cannot know the names it is reached by. Tokens protect it, and
  // allowedHosts if set.
  const anyHost = !isLocal && hosts.size === 0;
  hosts.add(hostName(config.host));
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));
  const anyOrigin = origins.has("*");
  const admins = config.admin.tokens.map(known);
  const clients = config.auth.tokens.map(known);
  const everybody = [...clients, ...admins];

  const place = (header: Header): Denial | undefined => {
    const host = header("host");
    const name = host === undefined ? undefined : hostName(host);
    if (!anyHost && (name === undefined || !(isLoopback(name) || hosts.has(name)))) {
      return refuse(403, name === undefined ? NO_HOST : `Host ${quoted(name)} not allowed: ${ALLOW_HOST}`);
    }
    const origin = header("origin")?.toLowerCase();
    if (origin !== undefined && !anyOrigin && !origins.has(origin) && !isLoopbackOrigin(origin)) {
      return refuse(403, `Origin ${quoted(origin)} not allowed: add it to "gateway.allowedOrigins"`);
    }
    return undefined;
  };

  return {
    place,
    cors: createCors(config.allowedOrigins),
    client(header) {
      const refused = place(header);
      if (refused) return refused;
      return clients.length === 0 ? { ok: true, principal: "" } : holder(header, everybody);
    },
    admin(header) {
      const refused = place(header);
      if (refused) return refused;
      if (everybody.length === 0) return { ok: true, principal: "" };
      const verdict = holder(header, everybody);
      if (!verdict.ok || admins.some(({ principal }) => principal === verdict.principal)) return verdict;
      return refuse(403, admins.length === 0 ? NO_ADMIN : NOT_ADMIN);
    },
    admits(principal, right) {
      const isOpen = right === "client" ? clients.length === 0 : everybody.length === 0;
      if (isOpen) return principal === "";
      return (right === "client" ? everybody : admins).some((token) => token.principal === principal);
    },
  };
}

/** The guards for the current config, one for each address: the API may have its own address. */
export class LiveGuards extends EventEmitter<{ changed: [] }> {
  #main: Guard;
  #admin: Guard;

  constructor(config: LiveConfig) {
    super();
    this.#main = createGuard(config.current.gateway);
    this.#admin = createGuard(adminAddress(config.current.gateway));
    config.on("changed", () => {
      this.#main = createGuard(config.current.gateway);
      this.#admin = createGuard(adminAddress(config.current.gateway));
      this.emit("changed");
    });
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

interface Known {
  readonly digest: Buffer;
  readonly principal: string;
}

function known(token: string): Known {
  return { digest: sha256(token), principal: principalOf(token) };
}

/**
 * Returns the principal of the request's token. Compares all tokens, so that the time taken reveals
 * nothing.
 */
function holder(header: Header, tokens: readonly Known[]): Verdict {
  const authorization = header("authorization") ?? "";
  if (!/^bearer /i.test(authorization)) return refuse(401, "A bearer token is required");
  const given = sha256(authorization.slice(7).trim());
  let principal: string | undefined;
  for (const token of tokens) if (timingSafeEqual(token.digest, given)) principal = token.principal;
  return principal === undefined ? refuse(401, "The bearer token is not valid") : { ok: true, principal };
}

function refuse(status: 401 | 403, message: string): Denial {
  return { ok: false, status, message };
}

/** Quotes the client's text, cut to a safe length for an error. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** Returns a name for the token's holder that does not reveal the token. */
function principalOf(token: string): string {
  return `token:${sha256(`principal ${token}`).toString("hex").slice(0, 12)}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
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
