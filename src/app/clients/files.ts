/**
 * Reads and replaces the files of other programs.
 *
 * Invariant: a file is replaced as a whole, with its mode, and only if it still has the bytes that
 * were read. A link, a file that may not be written, and anything that is no file are left alone.
 */
import { lstat, mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";

/** A file that must be left alone; the message says why. */
export class FileError extends Error {}

export interface FileState {
  readonly bytes: Buffer;
  readonly mode: number;
}

const MAX_BYTES = 16 * 1024 * 1024;
const OWNER_WRITES = 0o200;
/** What the codes of the system mean for somebody who wants this file changed. */
const WHY: Readonly<Record<string, string>> = {
  EBUSY: "it is mounted on its own, as in a container, so it cannot be replaced; edit it by hand",
  EXDEV: "it is on another disk than its folder, so it cannot be replaced; edit it by hand",
  EROFS: "its disk may not be written (read-only)",
  ENOSPC: "its disk is full",
};

/** Returns undefined if there is no such file. @throws FileError */
export async function readState(path: string): Promise<FileState | undefined> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) throw new FileError("it is a link; edit the file that it leads to by hand");
    if (!found.isFile()) throw new FileError("it is not a file");
    if (found.size > MAX_BYTES) throw new FileError(`it has more than ${MAX_BYTES} bytes`);
    return { bytes: await readFile(path), mode: found.mode & 0o7777 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error instanceof FileError ? error : new FileError(`it cannot be read (${code})`);
  }
}

/** Returns the text. @throws FileError if it is not UTF-8 */
export function textOf({ bytes }: Pick<FileState, "bytes">): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileError("it is not UTF-8");
  }
}

export interface Replacement {
  readonly before: FileState | undefined;
  /** Undefined removes the file. */
  readonly after: Buffer | undefined;
  /** Of the new file, if there was none. */
  readonly mode?: number;
}

/** @throws FileError if the file has changed since it was read, or cannot be written */
export async function replaceFile(path: string, { before, after, mode = 0o600 }: Replacement): Promise<void> {
  if (before && (before.mode & OWNER_WRITES) === 0) throw new FileError("it may not be written (read-only)");
  const now = await readState(path);
  if (!isSame(now, before)) throw new FileError("another program changed it just now; try again");
  try {
    if (after === undefined) return await rm(path, { force: true });
    if (!before) await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, after, { mode: before?.mode ?? mode });
  } catch (error) {
    const { code = "failed" } = error as NodeJS.ErrnoException;
    throw new FileError(WHY[code] ?? `it cannot be written (${code})`);
  }
}

function isSame(a: FileState | undefined, b: FileState | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.bytes.equals(b.bytes);
}
