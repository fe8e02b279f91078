/**
 * The browsers that visit the page, each with a cookie of its own.
 *
 * A login begun in one browser can end in that browser only: otherwise somebody could make another
 * person's browser end a login of theirs, or the other way round. Where the gateway needs
 * credentials, a visit also says whose browser it is, after the person proved that once. The cookie
 * is sealed, not readable for scripts, and not sent with requests that other sites cause, except
 * for the redirect that ends a login.
 */
import { randomBytes } from "node:crypto";
import { SealedTexts } from "../../lib/crypto/sealed-texts.ts";
import { cookieIn } from "../../lib/text/cookie.ts";

export interface Visit {
  /** Identifies the browser. */
  readonly id: string;
  /** Whose browser it is; undefined: nobody has proved it. Empty: no credential is needed. */
  readonly principal: string | undefined;
  readonly isAdmin?: boolean;
  readonly expiresAt: number;
}

const LIFE_MS = 60 * 60_000;

export class Visits {
  readonly #sealed: SealedTexts<Visit>;

  constructor(key: Buffer) {
    this.#sealed = new SealedTexts(key, "goblin connect visit");
  }

  begin(principal: string | undefined): Visit {
    return { id: randomBytes(16).toString("base64url"), principal, expiresAt: Date.now() + LIFE_MS };
  }

  /** Reads the visit from a request's Cookie header. */
  read(cookies: string | null | undefined, base: URL): Visit | undefined {
    const visit = this.#sealed.open(cookieIn(cookies, cookieName(base)) ?? "");
    return visit === "expired" ? undefined : visit;
  }

  /** Returns the Set-Cookie header. */
  cookie(visit: Visit, base: URL): string {
    const value = this.#sealed.seal(visit);
    const place = isSecure(base) ? "Path=/; Secure" : `Path=${base.pathname.replace(/\/$/, "")}/connect`;
    return `${cookieName(base)}=${value}; ${place}; HttpOnly; SameSite=Lax; Max-Age=${LIFE_MS / 1000}`;
  }
}

function isSecure({ protocol }: URL): boolean {
  return protocol === "https:";
}

/** The prefix keeps other hosts of the same domain from setting the cookie. */
function cookieName(base: URL): string {
  return isSecure(base) ? "__Host-goblin-connect" : "goblin-connect";
}
