/**
 * A file that lines of JSON are appended to.
 *
 * Invariant: the file ends with a whole line. A write that fails, and a process that ends within
 * one, leave part of a line: it is cut off after the failure, and again when the file is opened, so
 * that no line is ever appended behind half of another one. Pipes and devices cannot be cut: the
 * part of a line is ended there. No descriptor outlives a failure.
 */
import { type FileHandle, open, realpath, rename } from "node:fs/promises";

const LINE_FEED = 0x0a;
const BRACE = 0x7b;
const CHUNK_BYTES = 64 * 1024;

export class LineFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #isRegular = false;
  #bytes = 0;
  /** A pipe or a device got part of a line. */
  #isTorn = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** The size of the file, as far as this process knows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it can be renamed and cut. Known once it is open. */
  get isRegular(): boolean {
    return this.#isRegular;
  }

  /** Opens the file if it is not open, and cuts off part of a line at its end. */
  async open(): Promise<void> {
    if (this.#handle) return;
    const handle = await open(this.#path, "a", 0o600);
    try {
      const stats = await handle.stat();
      this.#isRegular = stats.isFile();
      this.#bytes = this.#isRegular ? await this.#repair(handle, stats.size) : stats.size;
    } catch (error) {
      await handle.close().catch(() => {});
      throw error;
    }
    this.#handle = handle;
  }

  /**
   * Appends lines, which must not contain line feeds. Without an error, all of them are in the
   * file; with one, only the first `written`.
   */
  async append(lines: readonly string[]): Promise<{ readonly written: number; readonly error?: unknown }> {
    if (lines.length === 0) return { written: 0 };
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    let done = 0;
    try {
      await this.open();
      const handle = this.#handle!;
      if (this.#isTorn) await handle.write("\n");
      this.#isTorn = false;
      while (done < bytes.length) done += (await handle.write(bytes, done)).bytesWritten;
      this.#bytes += done;
      return { written: lines.length };
    } catch (error) {
      const end = done === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, done - 1) + 1;
      await this.#cut(end, done).catch(() => {});
      await this.close();
      return { written: bytes.toString("latin1", 0, end).split("\n").length - 1, error };
    }
  }

  /** The next line opens it again. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // The descriptor is free also when this fails.
    await handle?.close().catch(() => {});
  }

  /** Looks up the size again: somebody else may have emptied the file. */
  async measure(): Promise<number> {
    if (this.#handle) this.#bytes = Math.min(this.#bytes, (await this.#handle.stat()).size);
    return this.#bytes;
  }

  /** Renames the file to `.1`, that one to `.2` and so on; the next line begins a new one. */
  async rotate(keep: number): Promise<void> {
    // A link stays a link: what it leads to is renamed.
    const target = await realpath(this.#path);
    for (let i = keep - 1; i > 0; i--) await renameIfThere(`${target}.${i}`, `${target}.${i + 1}`);
    await renameIfThere(target, `${target}.1`);
    await this.close();
    this.#bytes = 0;
  }

  /** Cuts off what a failed write left behind the last whole line. */
  async #cut(end: number, done: number): Promise<void> {
    if (!this.#isRegular) {
      this.#isTorn ||= done > end;
      return;
    }
    const handle = this.#handle;
    // Another process may have appended its lines since; the next `open` looks at the end itself.
    if (!handle || done === end || (await handle.stat()).size !== this.#bytes + done) return;
    await handle.truncate(this.#bytes + end);
  }

  /** Returns the size that is left. */
  async #repair(handle: FileHandle, size: number): Promise<number> {
    if (size === 0) return 0;
    const reader = await open(this.#path, "r");
    try {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size));
      let start = 0;
      for (let from = size; from > 0 && start === 0; ) {
        const length = Math.min(chunk.length, from);
        from -= length;
        await reader.read(chunk, 0, length, from);
        start = from + chunk.subarray(0, length).lastIndexOf(LINE_FEED) + 1;
        if (start === from) start = 0;
      }
      if (start === size) return size;
      await reader.read(chunk, 0, 1, start);
      // A power failure leaves zeros. Any other text is not ours: it is ended.
      if (chunk[0] === BRACE || chunk[0] === 0) {
        await handle.truncate(start);
        return start;
      }
      await handle.write("\n");
      return size + 1;
    } finally {
      await reader.close();
    }
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
