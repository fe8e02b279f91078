/**
 * Authorization codes: made when a person let a client in, and exchanged for tokens once. They live
 * a minute. A used one is remembered, because one that comes again was stolen.
 *
 * One gateway keeps them in memory. Among replicas, a code carries what the person agreed to,
 * sealed, so that any replica can exchange it; all of them know which ones were used.
 */
import { createHash, randomBytes } from "node:crypto";
import { SealedTexts } from "../../../lib/crypto/sealed-texts.ts";
import type { LiveBook } from "../live-book.ts";

/** What a person agreed to. */
export interface Agreed {
  /** The id of the grant to be. */
  readonly grant: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly clientHost: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly resource: string;
  readonly scope: string;
  readonly profile: string | undefined;
  readonly server: string | undefined;
}

const LIFE_MS = 60_000;
const REMEMBERED_MS = 10 * 60_000;
const MAX_CODES = 1000;

export type Redeemed =
  | { readonly kind: "fresh"; readonly agreed: Agreed }
  | { readonly kind: "used"; readonly grant: string };

export class AuthorizationCodes {
  readonly #codes = new Map<string, { readonly agreed: Agreed; readonly madeAt: number; isUsed: boolean }>();
  readonly #book: LiveBook;
  readonly #sealed: SealedTexts<Agreed & { readonly expiresAt: number }>;
  readonly #now: () => number;

  constructor(book: LiveBook, now: () => number) {
    this.#book = book;
    this.#sealed = new SealedTexts(book.store.derive("authorization codes"), "goblin authorization code", now);
    this.#now = now;
  }

  make(agreed: Agreed): string {
    if (this.#book.store.isShared) return this.#sealed.seal({ ...agreed, expiresAt: this.#now() + LIFE_MS });
    for (const [digest, { madeAt }] of this.#codes) {
      if (this.#codes.size < MAX_CODES && this.#now() - madeAt < REMEMBERED_MS) break;
      this.#codes.delete(digest);
    }
    const code = randomBytes(32).toString("base64url");
    this.#codes.set(digestOf(code), { agreed, madeAt: this.#now(), isUsed: false });
    return code;
  }

  /** Uses a code up, whatever comes of it. Resolves to undefined if there is no such code. */
  async redeem(code: string): Promise<Redeemed | undefined> {
    if (this.#book.store.isShared) return this.#redeemShared(code);
    const found = this.#codes.get(digestOf(code));
    if (!found) return undefined;
    if (found.isUsed) return { kind: "used", grant: found.agreed.grant };
    found.isUsed = true;
    return this.#now() - found.madeAt < LIFE_MS ? { kind: "fresh", agreed: found.agreed } : undefined;
  }

  async #redeemShared(code: string): Promise<Redeemed | undefined> {
    // Some letters at the end of such a text mean nothing: one code must not have two forms.
    if (Buffer.from(code, "base64url").toString("base64url") !== code) return undefined;
    const digest = digestOf(code);
    const agreed = this.#sealed.open(code);
    // One that was used keeps its meaning after its time.
    const used = this.#book.current.redeemed.find((one) => one.digest === digest);
    if (used) return { kind: "used", grant: used.grant };
    if (!agreed || agreed === "expired") return undefined;
    let isFirst = false;
    await this.#book.change((book) => {
      isFirst = !book.redeemed.some((one) => one.digest === digest);
      if (!isFirst) return book;
      const kept = book.redeemed.filter(({ at }) => this.#now() - at < REMEMBERED_MS).slice(1 - MAX_CODES);
      return { ...book, redeemed: [...kept, { digest, grant: agreed.grant, at: this.#now() }] };
    });
    return isFirst ? { kind: "fresh", agreed } : { kind: "used", grant: agreed.grant };
  }
}

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
