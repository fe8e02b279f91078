/**
 * The keys that sign access tokens (ES256). A key signs for a month; then a new one takes over, and
 * the old one is published until the last token that it signed has expired.
 */
import { randomBytes } from "node:crypto";
import * as jose from "jose";
import type { LiveBook } from "../live-book.ts";
import type { StoredKey } from "../store.ts";

const ALGORITHM = "ES256";
const SIGNS_MS = 30 * 24 * 3_600_000;
const PUBLISHED_MS = SIGNS_MS + 3_600_000;
const TYPE = "at+jwt";

export interface VerifyOptions {
  readonly issuer: string;
  readonly audience: string[];
}

export class SigningKeys {
  readonly #book: LiveBook;
  readonly #now: () => number;
  #made: Promise<StoredKey> | undefined;

  constructor(book: LiveBook, now: () => number) {
    this.#book = book;
    this.#now = now;
  }

  async sign(claims: jose.JWTPayload): Promise<string> {
    const { kid, jwk } = await this.#current();
    const key = await jose.importJWK(jwk, ALGORITHM);
    return new jose.SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid }).sign(key);
  }

  async verify(token: string, { issuer, audience }: VerifyOptions): Promise<jose.JWTPayload> {
    const { payload } = await jose.jwtVerify(token, jose.createLocalJWKSet(this.published()), {
      issuer,
      audience,
      algorithms: [ALGORITHM],
      typ: TYPE,
      currentDate: new Date(this.#now()),
      requiredClaims: ["exp", "sub", "client_id"],
    });
    return payload;
  }

  /** The public halves. */
  published(): { keys: jose.JWK[] } {
    const keys = this.#book.current.keys.filter(({ createdAt }) => this.#now() - createdAt < PUBLISHED_MS);
    return { keys: keys.map(({ kid, jwk: { d: _, ...open } }) => ({ ...open, kid, alg: ALGORITHM, use: "sig" })) };
  }

  async #current(): Promise<StoredKey> {
    const newest = this.#newest();
    if (newest) return newest;
    this.#made ??= this.#make().finally(() => {
      this.#made = undefined;
    });
    return this.#made;
  }

  #newest(keys = this.#book.current.keys): StoredKey | undefined {
    return keys.findLast(({ createdAt }) => this.#now() - createdAt < SIGNS_MS);
  }

  async #make(): Promise<StoredKey> {
    const { privateKey } = await jose.generateKeyPair(ALGORITHM, { extractable: true });
    const jwk = await jose.exportJWK(privateKey);
    const made = { kid: randomBytes(9).toString("base64url"), createdAt: this.#now(), jwk };
    const { keys } = await this.#book.change((book) => {
      // Another process may have been faster.
      if (this.#newest(book.keys)) return book;
      const known = book.keys.filter(({ createdAt }) => this.#now() - createdAt < PUBLISHED_MS);
      return { ...book, keys: [...known, made] };
    });
    return this.#newest(keys)!;
  }
}
