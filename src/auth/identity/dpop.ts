/**
 * Proofs of possession (DPoP, RFC 9449): a request with a bound token must be signed by the key
 * that the token is bound to. A proof is good for one request, once.
 */
import { createHash } from "node:crypto";
import * as jose from "jose";
import { Shares } from "../../lib/structures/shares.ts";
import type { Given } from "./resource-server.ts";

const ALGORITHMS = ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "EdDSA", "Ed25519"];
const MAX_PROOFS = 100_000;

export interface ProofOptions {
  readonly now: () => number;
  readonly skewMs: number;
  readonly publicUrl: string | undefined;
}

export class Proofs {
  readonly #options: ProofOptions;
  /** The proofs of the last minutes, by digest, oldest first. */
  readonly #used = new Map<string, { readonly key: string; readonly until: number }>();
  /** No key may take the room of all others. */
  readonly #shares = new Shares();

  constructor(options: ProofOptions) {
    this.#options = options;
  }

  /** Throws if the request has no valid proof by the key with this thumbprint. */
  async check({ token, asked }: Given, thumbprint: string): Promise<void> {
    const proof = asked.header("dpop");
    if (proof === undefined) throw new Error("the DPoP header is missing");
    const now = this.#options.now();
    const { payload, protectedHeader } = await jose.jwtVerify(proof, jose.EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: ALGORITHMS,
      currentDate: new Date(now),
      requiredClaims: ["jti", "iat"],
    });
    const { skewMs } = this.#options;
    if (Math.abs(payload.iat! * 1000 - now) > skewMs) throw new Error("the DPoP proof is too old or from the future");
    if (payload["htm"] !== asked.method) throw new Error("the DPoP proof is for another method");
    if (!this.#isFor(payload["htu"], asked)) throw new Error("the DPoP proof is for another URL");
    const digest = createHash("sha256").update(token).digest("base64url");
    if (payload["ath"] !== digest) throw new Error("the DPoP proof is for another token");
    const key = await jose.calculateJwkThumbprint(protectedHeader.jwk as jose.JWK);
    if (key !== thumbprint) throw new Error("the DPoP proof is signed by another key than the token's");
    this.#use(key, String(payload.jti), now);
  }

  #isFor(htu: unknown, asked: Given["asked"]): boolean {
    if (typeof htu !== "string" || !URL.canParse(htu)) return false;
    const claimed = new URL(htu);
    const base = this.#options.publicUrl;
    if (base !== undefined) {
      const own = new URL(base);
      return claimed.origin === own.origin && claimed.pathname === own.pathname.replace(/\/$/, "") + asked.path;
    }
    return claimed.host === asked.header("host") && claimed.pathname === asked.path;
  }

  #use(key: string, id: string, now: number): void {
    for (const [proof, { until, key: owner }] of this.#used) {
      if (until > now) break;
      this.#used.delete(proof);
      this.#shares.giveBack(owner);
    }
    const proof = createHash("sha256").update(`${key} ${id}`).digest("base64");
    if (this.#used.has(proof)) throw new Error("the DPoP proof was used before");
    // Forgetting a proof that is still valid would allow it again.
    if (!this.#shares.take(key, MAX_PROOFS)) throw new Error("too many DPoP proofs within two minutes");
    this.#used.set(proof, { key, until: now + 2 * this.#options.skewMs });
  }
}
