/**
 * Which replica owns what an id stands for. An id that one replica issues begins with that
 * replica's tag: its number and its address, sealed with the secret of the cluster.
 *
 * A tag is the same in all ids of a process, and its format stays the same whatever follows it. So
 * a replica can hand over an id whose rest only a newer version understands. Nobody without the
 * secret can read or make a tag.
 */

import { createHmac, randomBytes } from "node:crypto";
import { createByteSealer } from "../lib/crypto/byte-sealer.ts";
import { BoundedMap } from "../lib/structures/bounded-map.ts";

export interface Owner {
  /** Another one in every process: a replica that was restarted is another owner. */
  readonly id: string;
  /** `host:port`, or `unix:` and a path. */
  readonly address: string;
}

const FORMAT = 1;
const ID_BYTES = 9;
/** There are only as many as replicas, over the time that ids are good for. */
const MAX_KNOWN = 1000;
const MAX_TAG_LENGTH = 512;
const END = ".";

export function newOwnerId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** Returns a key that is good for this purpose only. */
export function clusterKey(secret: string, purpose: string): Buffer {
  return createHmac("sha256", secret).update(`goblin cluster ${purpose}`).digest();
}

export class OwnerTags {
  readonly #sealer;
  /** By tag. Only tags that were sealed with the secret get in. */
  readonly #known = new BoundedMap<string, Owner>(MAX_KNOWN);

  constructor(secret: string) {
    this.#sealer = createByteSealer(clusterKey(secret, "tags"));
  }

  tagOf({ id, address }: Owner): string {
    const sealed = this.#sealer.seal(JSON.stringify([id, address]));
    return Buffer.concat([Buffer.of(FORMAT), sealed]).toString("base64url");
  }

  /** Returns the owner that an id names. Undefined: it names none of this cluster. */
  ownerIn(id: string): Owner | undefined {
    const end = id.indexOf(END);
    if (end < 1 || end > MAX_TAG_LENGTH) return undefined;
    const tag = id.slice(0, end);
    const known = this.#known.get(tag);
    if (known) return known;
    const owner = this.#open(tag);
    if (!owner) return undefined;
    this.#known.set(tag, owner);
    return owner;
  }

  #open(tag: string): Owner | undefined {
    const bytes = Buffer.from(tag, "base64url");
    if (bytes[0] !== FORMAT || bytes.toString("base64url") !== tag) return undefined;
    try {
      const [id, address] = JSON.parse(this.#sealer.open(bytes.subarray(1)).toString("utf8"));
      return { id, address };
    } catch {
      return undefined;
    }
  }
}
