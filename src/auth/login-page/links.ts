/**
 * The links to the page where people log in. A link belongs to one principal and expires.
 *
 * A link is sealed, so it names nobody to those who read it. It is good for this page only. By
 * itself it proves nothing about who opens it (see `visits.ts`).
 */

import { SealedTexts } from "../../lib/crypto/sealed-texts.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";

export interface PageLink {
  /** The principal's id; empty: the gateway needs no credential. */
  readonly principal: string;
  /** Its name, for people. */
  readonly name: string;
  /** Whether it administered the gateway when it got the link. It must show that it still does. */
  readonly isAdmin: boolean;
  /** The servers that it could see when it got the link; undefined: all. */
  readonly servers?: readonly string[] | undefined;
  readonly expiresAt: number;
}

const LIFE_MS = 30 * 60_000;

export class Links {
  readonly #sealed: SealedTexts<PageLink>;

  constructor(key: Buffer) {
    this.#sealed = new SealedTexts(key, "goblin connect link");
  }

  make({ id, name, isAdmin }: Principal, servers: readonly string[] | undefined): string {
    return this.#sealed.seal({ principal: id, name, isAdmin, servers, expiresAt: Date.now() + LIFE_MS });
  }

  /** Returns undefined if the text is no link of this gateway; "expired" if it was one. */
  open(text: string): PageLink | "expired" | undefined {
    return this.#sealed.open(text);
  }
}
