/**
 * The key of the state folder. What is kept on disk and must stay secret is sealed with keys that
 * are derived from it.
 */
import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const KEY_BYTES = 32;

/** Reads the folder's key, or creates it. Rejects a key that other users can read. */
export async function readStateKey(folder: string): Promise<Buffer> {
  const file = join(folder, "key");
  try {
    await writeFile(file, randomBytes(KEY_BYTES), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (process.platform !== "win32" && ((await stat(file)).mode & 0o077) !== 0) {
    throw new Error(`${file} can be read by others; remove it, or set its mode to 0600`);
  }
  const key = await readFile(file);
  if (key.length !== KEY_BYTES) throw new Error(`${file} is not a key of ${KEY_BYTES} bytes; remove it`);
  return key;
}
