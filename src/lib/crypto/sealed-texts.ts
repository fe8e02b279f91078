/**
 * Values that leave the gateway as a text and come back: in links, cookies and forms.
 *
 * Invariant: nobody else can make, read or change one. It is good for one purpose only, and only
 * until it expires.
 */
import { type ByteSealer, createByteSealer } from "./byte-sealer.ts";

const MAX_LENGTH = 16 * 1024;

export class SealedTexts<Value extends { readonly expiresAt: number }> {
  readonly #sealer: ByteSealer;
  readonly #now: () => number;

  /** `purpose`: a text that was sealed for another one does not open. */
  constructor(key: Buffer, purpose: string, now: () => number = Date.now) {
    this.#sealer = createByteSealer(key, Buffer.from(purpose));
    this.#now = now;
  }

  seal(value: Value): string {
    return this.#sealer.seal(JSON.stringify(value)).toString("base64url");
  }

  /** Returns undefined if the text is not one of these; "expired" if it was one. */
  open(text: string): Value | "expired" | undefined {
    if (text.length > MAX_LENGTH) return undefined;
    try {
      // Only this gateway can seal a value.
      const value = JSON.parse(this.#sealer.open(Buffer.from(text, "base64url")).toString("utf8")) as Value;
      return value.expiresAt > this.#now() ? value : "expired";
    } catch {
      return undefined;
    }
  }
}
