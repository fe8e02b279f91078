/**
 * Authorization codes: made when a person let a client in, and exchanged for tokens once. They live
 * a minute, in memory. A used one is remembered, because one that comes again was stolen.
 */
import { createHash, randomBytes } from "node:crypto";

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
}

const LIFE_MS = 60_000;
const REMEMBERED_MS = 10 * 60_000;
const MAX_CODES = 1000;

export type Redeemed =
  | { readonly kind: "fresh"; readonly agreed: Agreed }
  | { readonly kind: "used"; readonly grant: string };

export class AuthorizationCodes {
  readonly #codes = new Map<string, { readonly agreed: Agreed; readonly madeAt: number; isUsed: boolean }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  make(agreed: Agreed): string {
    for (const [digest, { madeAt }] of this.#codes) {
      if (this.#codes.size < MAX_CODES && this.#now() - madeAt < REMEMBERED_MS) break;
      this.#codes.delete(digest);
    }
    const code = randomBytes(32).toString("base64url");
    this.#codes.set(digestOf(code), { agreed, madeAt: this.#now(), isUsed: false });
    return code;
  }

  /** Uses a code up, whatever comes of it. Returns undefined if there is no such code. */
  redeem(code: string): Redeemed | undefined {
    const found = this.#codes.get(digestOf(code));
    if (!found) return undefined;
    if (found.isUsed) return { kind: "used", grant: found.agreed.grant };
    found.isUsed = true;
    return this.#now() - found.madeAt < LIFE_MS ? { kind: "fresh", agreed: found.agreed } : undefined;
  }
}

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
