/**
 * Who may talk to the gateway at all. Everything that is served over HTTP passes here first.
 *
 * A page in a browser must not reach a gateway on the user's machine: the Host header must name an
 * address that the gateway is meant to be reached by (DNS rebinding), and an Origin, where there is
 * one, must be allowed. With tokens configured, a request needs one of them; they are compared in
 * constant time. A refusal tells nothing about what exists.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import type { LiveConfig } from "../../config/live-config.ts";

export interface GuardConfig {
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly auth: { readonly tokens: readonly string[] };
}

export type Verdict =
  | { readonly ok: true; readonly principal: string }
  | { readonly ok: false; readonly status: 401 | 403; readonly message: string };

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);

export type Guard = (header: (name: string) => string | undefined) => Verdict;

export function createGuard(config: GuardConfig): Guard {
  const hosts = new Set(config.allowedHosts.map(hostName));
  const isLocal = isLoopback(config.host);
  // A gateway on another interface is reached by names that it cannot know; tokens protect it, and
  // allowedHosts if given.
  const anyHost = !isLocal && hosts.size === 0;
  hosts.add(hostName(config.host));
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));
  const anyOrigin = origins.has("*");
  const digests = config.auth.tokens.map((token) => ({ digest: sha256(token), principal: principalOf(token) }));

  return (header) => {
    const host = header("host");
    const name = host === undefined ? undefined : hostName(host);
    if (!anyHost && (name === undefined || !(LOOPBACK.has(name) || hosts.has(name)))) {
      return refuse(403, 'Host not allowed: add it to "gateway.allowedHosts"');
    }
    const origin = header("origin")?.toLowerCase();
    if (origin !== undefined && !anyOrigin && !origins.has(origin) && !isLoopbackOrigin(origin)) {
      return refuse(403, 'Origin not allowed: add it to "gateway.allowedOrigins"');
    }
    if (digests.length === 0) return { ok: true, principal: "" };
    const authorization = header("authorization") ?? "";
    if (!/^bearer /i.test(authorization)) return refuse(401, "A bearer token is required");
    const given = sha256(authorization.slice(7).trim());
    let principal: string | undefined;
    for (const known of digests) if (timingSafeEqual(known.digest, given)) principal = known.principal;
    return principal === undefined ? refuse(401, "The bearer token is not valid") : { ok: true, principal };
  };
}

/** The guard of the config as it is now. */
export class LiveGuard {
  #guard: Guard;

  constructor(config: LiveConfig) {
    this.#guard = createGuard(config.current.gateway);
    config.on("changed", () => {
      this.#guard = createGuard(config.current.gateway);
    });
  }

  check(header: (name: string) => string | undefined): Verdict {
    return this.#guard(header);
  }
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || /^127\./.test(host);
}

function refuse(status: 401 | 403, message: string): Verdict {
  return { ok: false, status, message };
}

/** A name for whoever holds the token that does not give it away. */
function principalOf(token: string): string {
  return `token:${sha256(`principal ${token}`).toString("hex").slice(0, 12)}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Host without its port, in lower case. */
function hostName(host: string): string {
  const lower = host.toLowerCase();
  return lower.startsWith("[") ? lower.slice(0, lower.indexOf("]") + 1) : lower.replace(/:\d*$/, "");
}

function isLoopbackOrigin(origin: string): boolean {
  try {
    return LOOPBACK.has(new URL(origin).hostname);
  } catch {
    return false;
  }
}
