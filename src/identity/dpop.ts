/**
 * Proofs of possession (DPoP, RFC 9449): a request with a bound token must be signed by the key
 * that the token is bound to. A proof is good for one request, once.
 */
import { createHash } from "node:crypto";
import * as jose from "jose";
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
  /** The proofs of the last minutes, each with the time after which it would be too old anyway. */
  readonly #used = new Map<string, number>();

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
    this.#use(`${key} ${payload.jti}`, now + 2 * skewMs);
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

  #use(proof: string, until: number): void {
    const now = this.#options.now();
    if ((this.#used.get(proof) ?? 0) > now) throw new Error("the DPoP proof was used before");
    if (this.#used.size >= MAX_PROOFS) this.#forget(now);
    this.#used.set(proof, until);
  }

  #forget(now: number): void {
    for (const [proof, until] of this.#used) if (until <= now) this.#used.delete(proof);
    // Full of valid proofs: refusing is the only way not to forget one that could be replayed.
    if (this.#used.size >= MAX_PROOFS) throw new Error("too many DPoP proofs within two minutes");
  }
}
