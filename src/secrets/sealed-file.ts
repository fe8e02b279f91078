/**
 * One JSON value in one encrypted file of the state folder (AES-256-GCM under a key that is derived
 * from the folder's).
 *
 * The file is replaced as a whole, so that a process that is killed leaves the old one or the new
 * one. Changes are made one at a time, also between processes, and each begins with what the file
 * holds then. Nothing of its content appears in an error.
 */
import { createHmac } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../config/state-folder.ts";
import { readStateKey } from "../config/state-key.ts";
import { type ByteSealer, createByteSealer } from "../structures/byte-sealer.ts";
import { isRecord } from "../structures/record.ts";
import { withFileLock } from "./file-lock.ts";

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
}

const FORMAT = 1;

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
    this.#sealer = createByteSealer(createHmac("sha256", options.key).update(`goblin ${options.name}`).digest());
  }

  /** Rejects if the file cannot be read with this key. */
  async read(): Promise<Content> {
    const { empty, remedy } = this.#options;
    let bytes: Buffer;
    try {
      bytes = await readFile(this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return empty;
      throw error;
    }
    try {
      if (bytes[0] !== FORMAT) throw new Error("another format");
      const value: unknown = JSON.parse(this.#sealer.open(bytes.subarray(1)).toString("utf8"));
      if (isRecord(value)) return { ...empty, ...value } as Content;
    } catch {
      // Falls through: whatever is wrong with the file, it is of no use.
    }
    throw new Error(`${this.file} cannot be opened with the key of its folder; remove it and ${remedy}`);
  }

  /** Replaces the content. `change` gets what the file holds now; the same is not written again. */
  change(change: (content: Content) => Content): Promise<Content> {
    return withFileLock(`${this.file}.lock`, async () => {
      const content = await this.read();
      const next = change(content);
      if (next !== content) await this.#write(next);
      return next;
    });
  }

  async #write(content: Content): Promise<void> {
    const sealed = Buffer.concat([Buffer.of(FORMAT), this.#sealer.seal(JSON.stringify(content))]);
    const fresh = `${this.file}.new`;
    let handle: FileHandle | undefined;
    try {
      handle = await open(fresh, "w", 0o600);
      await handle.chmod(0o600);
      await handle.writeFile(sealed);
      await handle.sync();
    } finally {
      await handle?.close();
    }
    await rename(fresh, this.file);
  }
}
