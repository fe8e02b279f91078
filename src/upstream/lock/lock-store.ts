/**
 * The lock file on disk: read as a whole, written as a whole or not at all.
 *
 * Invariant: a file that cannot be read approves nothing.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";
import { finish, inSlices } from "../../lib/timing/slices.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { formatLock, type LockedServer, type ReadLock } from "./lock-file.ts";
import { readLock } from "./read-lock.ts";

/** People share the file. */
const LOCK_MODE = 0o644;

export const NO_LOCK: ReadLock = { servers: new Map(), problems: [], lines: new Map() };

/** A file that does not exist has no servers and no problems. */
export async function readLockFile(path: string): Promise<ReadLock> {
  try {
    return await inSlices(readLock(await readFile(path, "utf8")));
  } catch (error) {
    return unreadable(error);
  }
}

/** The same at once, for a gateway that nobody uses yet. */
export function readLockFileAtOnce(path: string): ReadLock {
  try {
    return finish(readLock(readFileSync(path, "utf8")));
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): ReadLock {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return NO_LOCK;
  return { ...NO_LOCK, problems: [{ line: 0, message: `cannot be read: ${messageOf(error)}` }] };
}

/**
 * Replaces one server's section, and leaves those of others as they are in the file now. Undefined
 * removes it. @throws if the file as a whole cannot be used: it may have what others approved.
 */
export async function writeLockedServer(path: string, id: string, server: LockedServer | undefined): Promise<ReadLock> {
  const { servers, problems } = await readLockFile(path);
  const broken = problems.find((problem) => problem.server === undefined);
  if (broken) throw new Error(`${path}:${broken.line} ${broken.message}; repair or remove the file first`);
  const next = new Map(servers);
  if (server) next.set(id, server);
  else next.delete(id);
  await writeFileAtomic(path, await inSlices(formatLock(next)), { mode: LOCK_MODE, keepsMode: true });
  return readLockFile(path);
}
