/**
 * Refresh tokens: each is good for one renewal, and the next one takes its place.
 *
 * An answer may get lost, and two processes of a client may renew at once. So for a short while the
 * token before gives the same answer again: the next token is derived from the one that it
 * replaces. After that, an old token means that two parties hold copies, and the grant must end. A
 * tag tells such a token from one that was made up: nobody can end a grant by guessing.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Grant, RefreshState } from "../store.ts";

/** For how long the token before gives the same answer again. */
const REPEAT_MS = 30_000;
const TAG_BYTES = 16;
const FORM = /^gr\.([\w-]{1,40})\.(\d{1,9})\.([\w-]{43})\.([\w-]{22})$/;

export interface RefreshKeys {
  /** The next token is derived from the current one with it. */
  readonly chain: Buffer;
  readonly tag: Buffer;
}

export interface ReadToken {
  readonly grant: string;
  readonly generation: number;
  readonly token: string;
}

export type Renewal =
  | { readonly kind: "next"; readonly token: string; readonly state: RefreshState }
  /** The same token that was given out a moment ago. */
  | { readonly kind: "repeat"; readonly token: string }
  | { readonly kind: "reuse" };

export class RefreshTokens {
  readonly #keys: RefreshKeys;

  constructor(keys: RefreshKeys) {
    this.#keys = keys;
  }

  first(grant: string, now: number): { readonly token: string; readonly state: RefreshState } {
    const token = this.#make(grant, 1, randomBytes(32));
    return { token, state: { generation: 1, digest: digestOf(token), rotatedAt: now } };
  }

  /** Returns undefined if this gateway did not make the token. */
  read(token: string): ReadToken | undefined {
    const match = FORM.exec(token);
    if (!match) return undefined;
    const [, grant, generation, , tag] = match;
    const expected = this.#tag(token.slice(0, token.lastIndexOf(".")));
    if (!timingSafeEqual(Buffer.from(expected), Buffer.from(tag!))) return undefined;
    return { grant: grant!, generation: Number(generation), token };
  }

  renew({ refresh }: Grant, { token, grant, generation }: ReadToken, now: number): Renewal {
    const next = this.#make(grant, generation + 1, createHmac("sha256", this.#keys.chain).update(token).digest());
    const digest = digestOf(token);
    if (generation === refresh.generation && digest === refresh.digest) {
      const state = { generation: generation + 1, digest: digestOf(next), before: digest, rotatedAt: now };
      return { kind: "next", token: next, state };
    }
    const isBefore = generation === refresh.generation - 1 && digest === refresh.before;
    return isBefore && now - refresh.rotatedAt <= REPEAT_MS ? { kind: "repeat", token: next } : { kind: "reuse" };
  }

  #make(grant: string, generation: number, secret: Buffer): string {
    const body = `gr.${grant}.${generation}.${secret.toString("base64url")}`;
    return `${body}.${this.#tag(body)}`;
  }

  #tag(body: string): string {
    return createHmac("sha256", this.#keys.tag).update(body).digest().subarray(0, TAG_BYTES).toString("base64url");
  }
}

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
