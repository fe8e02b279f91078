/**
 * One JSON value in one encrypted file of the state folder (AES-256-GCM). Its key is in the
 * keychain of the operating system if the file uses one and it answers, else it is derived from
 * the folder's.
 *
 * A file whose key is in a keychain is never written with another key: while the keychain is locked
 * or gone, it can neither be read nor changed, and nothing in it is lost.
 *
 * The file is replaced as a whole, so that a process that is killed leaves the old one or the new
 * one. Changes are made one at a time, also between processes, and each begins with what the file
 * holds then. Nothing of its content appears in an error.
 */
import { createHmac } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { readStateKey } from "../../config/state-key.ts";
import { type ByteSealer, createByteSealer } from "../../lib/crypto/byte-sealer.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";
import { withFileLock } from "./file-lock.ts";
import { ID_BYTES, type KeptKey, KeychainError, type KeychainKeys } from "./keychain-keys.ts";

export interface SealedFileOptions<Content> {
  readonly folder: string;
  /** The key of the folder. */
  readonly key: Buffer;
  /** The file's name; other names have other keys. */
  readonly name: string;
  /** What a missing file holds. */
  readonly empty: Content;
  /** What to do about a file that cannot be opened, after "remove it and". */
  readonly remedy: string;
  /** Undefined: the key is always derived from the folder's. */
  readonly keys?: KeychainKeys | undefined;
}

/** The first byte of a file: where its key is. */
const BY_FOLDER = 1;
const BY_KEYCHAIN = 2;

/** Returns the state folder and its key; creates both if needed. */
export async function openStateFolder(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly folder: string; readonly key: Buffer }> {
  const folder = stateFolder(env);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return { folder, key: await readStateKey(folder) };
}

export class SealedFile<Content extends object> {
  readonly file: string;
  readonly #options: SealedFileOptions<Content>;
  readonly #sealer: ByteSealer;

  constructor(options: SealedFileOptions<Content>) {
    this.#options = options;
    this.file = join(options.folder, options.name);
    this.#sealer = this.#sealerOf(options.key);
  }

  /** Rejects if the file cannot be read with its key; with a `KeychainError` if it has none now. */
  async read(): Promise<Content> {
    return (await this.#open()).content;
  }

  /** Whether the key of the file is in the keychain. */
  async isInKeychain(): Promise<boolean> {
    return (await this.#bytes())?.[0] === BY_KEYCHAIN;
  }

  /** Replaces the content. `change` gets what the file holds now; the same is not written again. */
  async change(change: (content: Content) => Content | Promise<Content>): Promise<Content> {
    // A keychain may ask its user first: not while others wait for the lock.
    const made = (await this.#keyOf(await this.#bytes())) ?? (await this.#options.keys?.make());
    return withFileLock(`${this.file}.lock`, async () => {
      const { content, kept } = await this.#open();
      const next = await change(content);
      if (next !== content) await this.#write(next, kept ?? made);
      return next;
    });
  }

  async #open(): Promise<{ readonly content: Content; readonly kept?: KeptKey | undefined }> {
    const { empty, remedy } = this.#options;
    const bytes = await this.#bytes();
    if (!bytes) return { content: empty };
    const kept = await this.#keyOf(bytes);
    try {
      if (!kept && bytes[0] !== BY_FOLDER) throw new Error("another format");
      const sealer = kept ? this.#sealerOf(kept.key) : this.#sealer;
      const value: unknown = JSON.parse(sealer.open(bytes.subarray(kept ? 1 + ID_BYTES : 1)).toString("utf8"));
      if (isRecord(value)) return { content: { ...empty, ...value } as Content, kept };
    } catch {
      // Falls through: whatever is wrong with the file, it is of no use.
    }
    const whose = kept ? "its key in the keychain" : "the key of its folder";
    throw new Error(`${this.file} cannot be opened with ${whose}; remove it and ${remedy}`);
  }

  async #bytes(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Returns the key in the keychain that the file names. @throws KeychainError */
  async #keyOf(bytes: Buffer | undefined): Promise<KeptKey | undefined> {
    const { keys, remedy } = this.#options;
    if (bytes?.[0] !== BY_KEYCHAIN || !keys) return undefined;
    try {
      return await keys.find(bytes.subarray(1, 1 + ID_BYTES));
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      const advice = `unlock it, or remove the file and ${remedy}`;
      throw new KeychainError(`The key of ${this.file} is in ${error.message}; ${advice}`);
    }
  }

  #sealerOf(key: Buffer): ByteSealer {
    return createByteSealer(createHmac("sha256", key).update(`goblin ${this.#options.name}`).digest());
  }

  async #write(content: Content, kept: KeptKey | undefined): Promise<void> {
    const head = kept ? Buffer.concat([Buffer.of(BY_KEYCHAIN), kept.id]) : Buffer.of(BY_FOLDER);
    const sealer = kept ? this.#sealerOf(kept.key) : this.#sealer;
    const sealed = Buffer.concat([head, sealer.seal(JSON.stringify(content))]);
    await writeFileAtomic(this.file, sealed);
  }
}
