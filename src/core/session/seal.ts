/**
 * Session ids that contain the negotiated state, encrypted and authenticated (AES-256-GCM). Another
 * process with the same key can resume the session. Nobody without the key can forge, read or
 * change an id.
 *
 * An id is bounded so that it always fits into a header: the client's description of itself is cut
 * if necessary.
 */
import { createHash, createHmac } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { createByteSealer, SEAL_BYTES } from "../../lib/crypto/byte-sealer.ts";
import { bareCapabilities, shortInfo } from "./bounded.ts";

export interface SessionClaims {
  /** The session's internal key. */
  readonly key: string;
  readonly principal: string;
  /** The endpoint that the session was opened at. */
  readonly endpoint: string;
  /** The account that the session is counted under. */
  readonly account: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  /** When the session began, in milliseconds since the epoch. */
  readonly issued: number;
  /** The process that opened the session; undefined in ids of versions that did not say. */
  readonly replica?: string | undefined;
  /** What a load balancer hashed to choose that process; it also ends the id. */
  readonly routingKey?: string | undefined;
}

export interface Sealer {
  seal(claims: SessionClaims): string;
  /** Returns undefined if the id was not sealed with this key, or was changed. */
  open(id: string): SessionClaims | undefined;
  /** Returns a short code for the text, always the same. Nobody without the key can compute it. */
  mark(text: string): string;
  /** Returns a key that is good for this purpose only. */
  keyFor(purpose: string): Buffer;
}

const FORMAT = 1;
const MARK_BYTES = 16;
const MAX_LENGTH = 2048;
const MAX_OPENED = 64 * 1024;

/** `scope` separates endpoints that share a key: one cannot open an id that another sealed. */
export function createSealer(secret: string | Buffer, scope: string): Sealer {
  const key = createHash("sha256").update("goblin session\0").update(secret).digest();
  const bound = Buffer.from(scope);
  const sealer = createByteSealer(key, bound);
  const marking = createHmac("sha256", key).update("goblin mark\0").update(bound).digest();

  const encrypt = (claims: SessionClaims): string => {
    const {
      key: k,
      principal: p,
      endpoint: e,
      account,
      protocolVersion: v,
      capabilities: c,
      info: i,
      issued: t,
      replica: r,
      routingKey: h,
    } = claims;
    const packed = deflateRawSync(
      JSON.stringify({ k, p, e: e === "" ? undefined : e, a: account === p ? undefined : account, v, c, i, t, r, h }),
    );
    return Buffer.concat([Buffer.of(FORMAT), sealer.seal(packed)]).toString("base64url");
  };

  return {
    seal(claims) {
      const whole = encrypt(claims);
      if (whole.length <= MAX_LENGTH) return whole;
      const short = encrypt({ ...claims, info: shortInfo(claims.info) });
      if (short.length <= MAX_LENGTH) return short;
      const capabilities = bareCapabilities(claims.capabilities);
      return encrypt({ ...claims, info: shortInfo(claims.info), capabilities });
    },
    open(id) {
      if (id.length > MAX_LENGTH) return undefined;
      const bytes = Buffer.from(id, "base64url");
      if (bytes[0] !== FORMAT || bytes.length <= 1 + SEAL_BYTES) return undefined;
      // Two spellings that decode to the same bytes would be two ids of one session.
      if (bytes.toString("base64url") !== id) return undefined;
      try {
        const packed = sealer.open(bytes.subarray(1));
        const text = inflateRawSync(packed, { maxOutputLength: MAX_OPENED }).toString("utf8");
        const { k, p, e = "", a = p, v, c, i, t, r, h } = JSON.parse(text);
        const bound = { key: k, principal: p, endpoint: e, account: a };
        return { ...bound, protocolVersion: v, capabilities: c, info: i, issued: t, replica: r, routingKey: h };
      } catch {
        return undefined;
      }
    },
    mark(text) {
      const digest = createHmac("sha256", marking).update(text).digest();
      return digest.subarray(0, MARK_BYTES).toString("base64url");
    },
    keyFor: (purpose) => createHmac("sha256", key).update(`goblin ${purpose}\0`).update(bound).digest(),
  };
}
