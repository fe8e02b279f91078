/**
 * The keys of sealed files that are kept in the keychain of the operating system.
 *
 * The content of such a file stays a file: a keychain takes little (1280 characters on Windows),
 * cannot change several entries at once, and tells nobody that it changed. A key is small and never
 * changes. Each has an id, which the file names: two processes that make one at the same time do
 * not replace each other's.
 *
 * Invariant: a key is used only after the keychain gave it back.
 */
import { randomBytes } from "node:crypto";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Keychain } from "./keychain.ts";

export const ID_BYTES = 8;
const KEY_BYTES = 32;

export interface KeptKey {
  /** `ID_BYTES` long. */
  readonly id: Buffer;
  readonly key: Buffer;
}

/** The keychain that holds a key cannot be used now. */
export class KeychainError extends Error {}

export class KeychainKeys {
  readonly #open: () => Promise<Keychain | undefined>;
  readonly #known = new Map<string, KeptKey>();
  #made: Promise<KeptKey | undefined> | undefined;

  /** `open`: returns undefined if there is no keychain. */
  constructor(open: () => Promise<Keychain | undefined>) {
    this.#open = open;
  }

  /** Returns the key of this id. @throws KeychainError */
  async find(id: Buffer): Promise<KeptKey> {
    const name = nameOf(id);
    const known = this.#known.get(name);
    if (known) return known;
    const keychain = await this.#open();
    if (!keychain) throw new KeychainError("the keychain of the operating system, which cannot be reached from here");
    let text: string | undefined;
    try {
      text = await keychain.get(name);
    } catch (error) {
      throw new KeychainError(`${keychain.title}, which is locked or does not answer (${messageOf(error)})`);
    }
    if (text === undefined) throw new KeychainError(`${keychain.title}, which does not have it any more`);
    return this.#know({ id, key: Buffer.from(text, "base64") });
  }

  /** Returns a new key, the same at each call; undefined if no keychain takes it. */
  make(): Promise<KeptKey | undefined> {
    this.#made ??= this.#make().catch(() => undefined);
    return this.#made;
  }

  async #make(): Promise<KeptKey | undefined> {
    const keychain = await this.#open();
    if (!keychain) return undefined;
    const made = { id: randomBytes(ID_BYTES), key: randomBytes(KEY_BYTES) };
    const text = made.key.toString("base64");
    await keychain.set(nameOf(made.id), text);
    return (await keychain.get(nameOf(made.id))) === text ? this.#know(made) : undefined;
  }

  #know(kept: KeptKey): KeptKey {
    this.#known.set(nameOf(kept.id), kept);
    return kept;
  }
}

function nameOf(id: Buffer): string {
  return `key of logins ${id.toString("hex")}`;
}
