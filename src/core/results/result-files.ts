/**
 * The files of kept results, each in a folder of this process alone. Only the user can read them.
 *
 * Invariants: no name comes from outside, no symbolic link is followed, and no file is written that
 * was there before. What a process left that was killed, the next one removes.
 */
import { constants } from "node:fs";
import { lstat, mkdir, mkdtemp, open, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isRunning } from "../../lib/process/is-running.ts";

const OWNER_ONLY = 0o600;
const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY } = constants;
/** Windows has no such flag. */
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
/** The bytes of one read. */
const PART = 4 * 1024 * 1024;
const OWN_FOLDER = /^(\d+)-/;

export class ResultFiles {
  readonly #parent: () => string;
  #own: Promise<string> | undefined;
  readonly #writing = new Set<Promise<void>>();

  constructor(parent: () => string) {
    this.#parent = parent;
  }

  async write(id: string, bytes: Buffer): Promise<void> {
    const writing = this.#write(id, bytes);
    this.#writing.add(writing);
    try {
      await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }

  async #write(id: string, bytes: Buffer): Promise<void> {
    const path = join(await this.#folder(), id);
    const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | NOFOLLOW, OWNER_ONLY);
    try {
      await file.writeFile(bytes);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  async read(id: string, size: number): Promise<Buffer> {
    const file = await open(join(await this.#folder(), id), O_RDONLY | NOFOLLOW);
    try {
      const bytes = Buffer.allocUnsafe(size);
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(bytes, at, Math.min(PART, size - at), at);
        if (bytesRead === 0) throw new Error("the file is shorter than it was");
        at += bytesRead;
      }
      return bytes;
    } finally {
      await file.close();
    }
  }

  remove(id: string): void {
    void this.#own?.then((folder) => rm(join(folder, id), { force: true })).catch(() => {});
  }

  /** Removes what killed processes left. */
  async clean(): Promise<void> {
    await removeLeftovers(this.#parent()).catch(() => {});
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#writing]);
    const folder = await this.#own?.catch(() => undefined);
    if (folder === undefined) return;
    await rm(folder, { recursive: true, force: true });
    // Other processes may have theirs in it.
    await rmdir(this.#parent()).catch(() => {});
  }

  #folder(): Promise<string> {
    this.#own ??= this.#make().catch((error: unknown) => {
      // The next result tries again.
      this.#own = undefined;
      throw error;
    });
    return this.#own;
  }

  async #make(): Promise<string> {
    const parent = this.#parent();
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const state = await lstat(parent);
    if (!state.isDirectory()) throw new Error(`${parent} is not a folder`);
    const user = process.getuid?.();
    if (user !== undefined && state.uid !== user) throw new Error(`${parent} belongs to another user`);
    await this.clean();
    return mkdtemp(join(parent, `${process.pid}-`));
  }
}

/** Nothing is followed to elsewhere. */
async function removeLeftovers(parent: string): Promise<void> {
  if (!(await lstat(parent)).isDirectory()) return;
  for (const name of await readdir(parent)) {
    const pid = Number(OWN_FOLDER.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || pid === process.pid || isRunning(pid)) continue;
    // A link is removed, not what it leads to.
    await rm(join(parent, name), { recursive: true, force: true });
  }
}
