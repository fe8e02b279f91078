/**
 * The links to the page where people log in. A link belongs to one principal and expires.
 *
 * A link is sealed: nobody can make one or change it, and it names nobody to those who read it. It
 * is good for this page only. By itself it proves nothing about who opens it (see `visits.ts`).
 */
import { type ByteSealer, createByteSealer } from "../structures/byte-sealer.ts";

export interface Link {
  /** The principal's id; empty: the gateway needs no credential. */
  readonly principal: string;
  readonly expiresAt: number;
}

const LIFE_MS = 30 * 60_000;
const PURPOSE = Buffer.from("goblin connect link");
const MAX_LENGTH = 4096;

export class Links {
  readonly #sealer: ByteSealer;

  constructor(key: Buffer) {
    this.#sealer = createByteSealer(key, PURPOSE);
  }

  make(principal: string): string {
    const link: Link = { principal, expiresAt: Date.now() + LIFE_MS };
    return this.#sealer.seal(JSON.stringify(link)).toString("base64url");
  }

  /** Returns undefined if the text is no link of this gateway; "expired" if it was one. */
  open(text: string): Link | "expired" | undefined {
    if (text.length > MAX_LENGTH) return undefined;
    try {
      const link = JSON.parse(this.#sealer.open(Buffer.from(text, "base64url")).toString("utf8")) as Link;
      return link.expiresAt < Date.now() ? "expired" : link;
    } catch {
      return undefined;
    }
  }
}
