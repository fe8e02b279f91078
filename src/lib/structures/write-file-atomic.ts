/**
 * Replaces a file as a whole: readers see the old one or the new one, also after a crash or a power
 * failure. A write that fails leaves the old file and nothing beside it.
 *
 * Invariant: the new file has its mode before it has any content.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";

export interface AtomicWrite {
  /** Whatever the process's umask is. */
  readonly mode?: number | undefined;
  /** Keeps the mode of a file that exists; `mode` is that of a new one. */
  readonly keepsMode?: boolean | undefined;
  /** False for content that can be made again: it is not synced to the disk. */
  readonly isDurable?: boolean | undefined;
}

const PRIVATE = 0o600;
const MODE_BITS = 0o7777;

export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  { mode = PRIVATE, keepsMode = false, isDurable = true }: AtomicWrite = {},
): Promise<void> {
  const known = keepsMode ? await stat(path).catch(() => undefined) : undefined;
  const draft = draftOf(path);
  try {
    const handle = await open(draft, "wx", PRIVATE);
    try {
      await handle.chmod(known ? known.mode & MODE_BITS : mode);
      await handle.writeFile(content);
      if (isDurable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

export function writeFileAtomicSync(
  path: string,
  content: string | Uint8Array,
  { mode = PRIVATE, keepsMode = false, isDurable = true }: AtomicWrite = {},
): void {
  const known = keepsMode ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const draft = draftOf(path);
  try {
    const handle = openSync(draft, "wx", PRIVATE);
    try {
      fchmodSync(handle, known ? known.mode & MODE_BITS : mode);
      writeFileSync(handle, content);
      if (isDurable) fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, path);
  } catch (error) {
    removeQuietly(draft);
    throw error;
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The first error says what is wrong.
  }
}

/** In the same folder, because a rename does not cross disks. */
function draftOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.tmp`;
}
