/** Bytes that nobody without the key can read, make or change (AES-256-GCM). */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export interface ByteSealer {
  seal(bytes: string | Buffer): Buffer;
  /** Throws on what was not sealed with this key, or was changed since. */
  open(sealed: Buffer): Buffer;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** How much longer sealed bytes are. */
export const SEAL_BYTES = IV_BYTES + TAG_BYTES;

/** `bound` goes unsealed into the seal: a seal that was made with another one does not open. */
export function createByteSealer(key: Buffer, bound: Buffer = Buffer.alloc(0)): ByteSealer {
  return {
    seal(bytes) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(bound);
      const body = [typeof bytes === "string" ? cipher.update(bytes, "utf8") : cipher.update(bytes), cipher.final()];
      return Buffer.concat([iv, cipher.getAuthTag(), ...body]);
    },
    open(sealed) {
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(bound).setAuthTag(sealed.subarray(IV_BYTES, SEAL_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(SEAL_BYTES)), decipher.final()]);
    },
  };
}
