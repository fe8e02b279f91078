/**
 * Who a browser with the page is: one-time codes from `goblin ui`, and the cookie that follows.
 *
 * Invariant: the cookie alone opens nothing. Browsers send it to every port of a host, so each
 * request must also carry the page's key in a header. Only a page of this very origin has stored
 * that key; a page of another origin cannot send the header at all. A cookie is signed, names an
 * admin, and ends with that admin's credential, or when the admin logs out of the page.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { cookieIn } from "../../lib/text/cookie.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { CredentialRequest } from "./credentials.ts";

export const PAGE_COOKIE = "goblin_page";
const PAGE_HEADER = "x-goblin-page";

const CODE_MS = 2 * 60_000;
const COOKIE_MS = 12 * 3_600_000;
/** Codes that nobody used yet. */
const MAX_CODES = 100;
/** Sessions that ended before their cookies do. */
const MAX_ENDED = 10_000;

interface Claims {
  readonly id: string;
  readonly name: string;
  /** The digest of the page's key. */
  readonly key: string;
  readonly until: number;
  /** When the admin's credential ends; absent if never. */
  readonly ends?: number;
}

export interface PageSession {
  readonly cookie: string;
  readonly key: string;
  readonly seconds: number;
}

export class PageSessions {
  readonly #codes = new Map<string, { readonly principal: Principal; readonly until: number }>();
  /** The digests of the keys of sessions that were ended, and when their cookies end. */
  readonly #ended = new Map<string, number>();
  readonly #mark: (text: string) => string;
  readonly #now: () => number;

  /** `mark`: a signature that only this gateway can make, also after a restart. */
  constructor(mark: (text: string) => string, now: () => number = Date.now) {
    this.#mark = mark;
    this.#now = now;
  }

  /** Makes a code that opens one session for this admin. */
  code(principal: Principal): string {
    const now = this.#now();
    for (const [code, { until }] of this.#codes)
      if (until <= now || this.#codes.size >= MAX_CODES) this.#codes.delete(code);
    const code = randomBytes(24).toString("base64url");
    this.#codes.set(code, { principal, until: now + CODE_MS });
    return code;
  }

  /** Returns whose code it is. A code works once. */
  redeem(code: string): Principal | undefined {
    const held = this.#codes.get(code);
    this.#codes.delete(code);
    return held && held.until > this.#now() ? held.principal : undefined;
  }

  open({ id, name, expiresAt }: Principal): PageSession {
    const key = randomBytes(24).toString("base64url");
    const until = Math.min(this.#now() + COOKIE_MS, expiresAt);
    const claims: Claims = {
      id,
      name,
      key: digestOf(key),
      until,
      ...(Number.isFinite(expiresAt) && { ends: expiresAt }),
    };
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const seconds = Math.max(0, Math.floor((until - this.#now()) / 1000));
    return { cookie: `${payload}.${this.#mark(`page ${payload}`)}`, key, seconds };
  }

  /** Returns the admin whose page sent the request. The caller checks that it still is one. */
  principal(asked: Pick<CredentialRequest, "header">): Principal | undefined {
    const claims = this.#claims(asked);
    if (!claims) return undefined;
    const { id, name, ends = Number.POSITIVE_INFINITY } = claims;
    return { id, name, groups: [], scopes: undefined, isAdmin: true, expiresAt: ends };
  }

  /** Ends the session of the page that sent the request: its cookie and key open nothing more. */
  end(asked: Pick<CredentialRequest, "header">): void {
    const claims = this.#claims(asked);
    if (!claims) return;
    for (const [key, until] of this.#ended) if (until <= this.#now()) this.#ended.delete(key);
    if (this.#ended.size >= MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value!);
    this.#ended.set(claims.key, claims.until);
  }

  #claims(asked: Pick<CredentialRequest, "header">): Claims | undefined {
    const key = asked.header(PAGE_HEADER);
    const cookie = cookieIn(asked.header("cookie"), PAGE_COOKIE);
    if (key === undefined || cookie === undefined) return undefined;
    const [payload = "", mark = ""] = cookie.split(".");
    if (!isEqual(mark, this.#mark(`page ${payload}`))) return undefined;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Claims;
    if (claims.until <= this.#now() || !isEqual(digestOf(key), claims.key)) return undefined;
    return this.#ended.has(claims.key) ? undefined : claims;
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
