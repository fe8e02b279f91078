/**
 * The key of the state folder. What is kept on disk and must stay secret is sealed with keys that
 * are derived from it.
 *
 * Several processes may begin at once in a new folder: the file is there with all its bytes, or not
 * at all, and one key is everybody's.
 */
import { randomBytes } from "node:crypto";
import { link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const KEY_BYTES = 32;

/** Reads the folder's key, or creates it. Rejects a key that other users can read. */
export async function readStateKey(folder: string): Promise<Buffer> {
  const file = join(folder, "key");
  const mode = await stat(file).then(
    (found) => found.mode,
    () => undefined,
  );
  if (mode === undefined) await create(file);
  else if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw new Error(`${file} can be read by others; remove it, or set its mode to 0600`);
  }
  const key = await readFile(file);
  if (key.length !== KEY_BYTES) throw new Error(`${file} is not a key of ${KEY_BYTES} bytes; remove it`);
  return key;
}

async function create(file: string): Promise<void> {
  const key = randomBytes(KEY_BYTES);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const options = { flag: "wx", mode: 0o600 } as const;
  await writeFile(draft, key, options);
  try {
    // Unlike a rename, a link never takes the place of a key that is there by now. Where there are
    // no links, the moment in which the file is empty cannot be helped.
    await link(draft, file).catch((error) => (isThere(error) ? undefined : writeFile(file, key, options)));
  } catch (error) {
    if (!isThere(error)) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EEXIST";
}
