/**
 * The browsers in which a person let clients in, each with a sealed cookie that names these grants.
 *
 * The person typed a code there, so the browser is theirs. A link for one of these clients opens in
 * it without another code.
 */
import { SealedTexts } from "../../../lib/crypto/sealed-texts.ts";
import { cookieIn } from "../../../lib/text/cookie.ts";

interface Known {
  /** Newest first. */
  readonly grants: readonly string[];
  readonly expiresAt: number;
}

export interface BrowsersOptions {
  readonly issuer: string;
  readonly key: Buffer;
  readonly now: () => number;
}

const LIFE_MS = 90 * 24 * 60 * 60_000;
const MAX_BROWSERS = 50;

export class Browsers {
  readonly #sealed: SealedTexts<Known>;
  readonly #now: () => number;
  readonly #isSecure: boolean;

  constructor({ issuer, key, now }: BrowsersOptions) {
    this.#sealed = new SealedTexts(key, "goblin paired browser", now);
    this.#now = now;
    this.#isSecure = issuer.startsWith("https:");
  }

  letIn(grant: string, cookies: string | null): boolean {
    return this.#grants(cookies).includes(grant);
  }

  /** Returns the Set-Cookie header of a browser that let one more client in. */
  cookie(grant: string, cookies: string | null): string {
    const grants = [grant, ...this.#grants(cookies)].slice(0, MAX_BROWSERS);
    const value = this.#sealed.seal({ grants, expiresAt: this.#now() + LIFE_MS });
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${LIFE_MS / 1000}${secure}`;
  }

  #grants(cookies: string | null): readonly string[] {
    const known = this.#sealed.open(cookieIn(cookies, this.#name) ?? "");
    return known && known !== "expired" ? known.grants : [];
  }

  /** Browsers refuse the prefix without TLS. */
  get #name(): string {
    return this.#isSecure ? "__Host-goblin-paired" : "goblin-paired";
  }
}
