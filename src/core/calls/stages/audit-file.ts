/**
 * The file of the audit log: takes lines at once and appends them later, in their order.
 *
 * A line is in the file, waits in memory, or is counted as lost; there is no fourth. A file that
 * cannot be written is closed and tried again: no descriptor outlives its failure. A line that came
 * only in part, because the disk was full, is ended and written again as a whole. A regular file is
 * rotated before it grows beyond its limit; pipes and devices are not.
 */
import { type FileHandle, open, realpath, rename } from "node:fs/promises";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";

/** More than this is not kept while the disk does not take it. */
const MAX_WAITING = 16 * 1024 * 1024;
const RETRY_MS = 1_000;
const LINE_FEED = 0x0a;

export interface AuditFileOptions {
  readonly path: string;
  /** Asked whenever it matters, since the config may change. */
  readonly rotation: () => { readonly maxBytes: number; readonly keep: number };
  readonly onLost: (lines: number) => void;
  readonly log: Pick<Logger, "error" | "warn">;
}

export class AuditFile {
  readonly #options: AuditFileOptions;
  #handle: FileHandle | undefined;
  /** Whether it may be renamed. */
  #isRegular = false;
  #fileBytes = 0;
  /** The last line in the file is not whole. */
  #isTorn = false;
  #waiting: string[] = [];
  #waitingSize = 0;
  /** Of this outage. */
  #lost = 0;
  #isFailing = false;
  #isMoved = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    if (this.#isClosed || this.#waitingSize > MAX_WAITING) {
      this.#lose(1);
      return;
    }
    this.#waiting.push(line);
    this.#waitingSize += line.length;
    if (this.#retry === undefined) this.#start();
  }

  /** Follows a file that was moved away. */
  reopen(): void {
    if (this.#isClosed) return;
    this.#isMoved = true;
    this.#start();
  }

  /** Writes what waits, as far as the disk takes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    if (this.#waiting.length > 0) await this.#run();
    clearTimeout(this.#retry);
    if (this.#waiting.length > 0) this.#lose(this.#waiting.length);
    this.#waiting = [];
    await this.#release();
  }

  #start(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#writing ??= this.#run();
  }

  #lose(lines: number): void {
    const { path, onLost, log } = this.#options;
    if (this.#lost === 0) log.error({ file: path }, "Audit lines are lost; mcpAuditLinesLostTotal counts them");
    this.#lost += lines;
    onLost(lines);
  }

  async #run(): Promise<void> {
    // The lines of one turn of the event loop go out together.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#waiting.length > 0 || this.#isMoved) {
        if (this.#isMoved) await this.#release();
        this.#isMoved = false;
        this.#handle ??= await this.#open();
        if (this.#isFull()) await this.#rotate(this.#handle);
        else await this.#append(this.#handle, this.#take());
      }
      this.#recover();
    } catch (error) {
      await this.#fail(error);
    }
    this.#writing = undefined;
  }

  async #open(): Promise<FileHandle> {
    const handle = await open(this.#options.path, "a", 0o600);
    const stats = await handle.stat();
    this.#isRegular = stats.isFile();
    this.#fileBytes = stats.size;
    return handle;
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // The descriptor is free also when this fails.
    await handle?.close().catch(() => {});
  }

  /** Whether the next line has to go to a new file. One that is too long for any goes as it is. */
  #isFull(): boolean {
    const { maxBytes } = this.#options.rotation();
    const [line] = this.#waiting;
    if (line === undefined || maxBytes === 0 || !this.#isRegular || this.#fileBytes === 0) return false;
    return this.#fileBytes + Buffer.byteLength(line) + 1 > maxBytes;
  }

  async #rotate(handle: FileHandle): Promise<void> {
    const { path, rotation, log } = this.#options;
    // Somebody else may have emptied it.
    this.#fileBytes = Math.min(this.#fileBytes, (await handle.stat()).size);
    if (!this.#isFull()) return;
    try {
      // A link stays a link: what it leads to is renamed.
      const target = await realpath(path);
      for (let i = rotation().keep - 1; i > 0; i--) await renameIfThere(`${target}.${i}`, `${target}.${i + 1}`);
      await renameIfThere(target, `${target}.1`);
      await this.#release();
      this.#isTorn = false;
    } catch (error) {
      log.error(
        { file: path, error: messageOf(error) },
        "The audit log cannot be rotated and keeps growing: make its folder writable",
      );
      // Tried again when as much has come once more.
      this.#fileBytes = 0;
    }
  }

  /** The next lines that fit into the file together. */
  #take(): string[] {
    const { maxBytes } = this.#options.rotation();
    let room = maxBytes === 0 || !this.#isRegular ? Number.POSITIVE_INFINITY : maxBytes - this.#fileBytes;
    let count = 0;
    for (const line of this.#waiting) {
      room -= Buffer.byteLength(line) + 1;
      if (room < 0 && count > 0) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #append(handle: FileHandle, lines: string[]): Promise<void> {
    if (lines.length === 0) return;
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    let written = 0;
    try {
      if (this.#isTorn && this.#fileBytes > 0) await handle.write("\n");
      this.#isTorn = false;
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    } catch (error) {
      const whole = bytes.toString("latin1", 0, written).split("\n").length - 1;
      this.#waiting = [...lines.slice(whole), ...this.#waiting];
      this.#isTorn ||= written > 0 && bytes[written - 1] !== LINE_FEED;
      lines.length = whole;
      throw error;
    } finally {
      this.#fileBytes += written;
      for (const line of lines) this.#waitingSize -= line.length;
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { path, log } = this.#options;
    if (!this.#isFailing) {
      log.error(
        { file: path, error: messageOf(error) },
        "The audit log cannot be written: free the disk or make its folder writable; lines wait in memory until then",
      );
    }
    this.#isFailing = true;
    await this.#release();
    if (!this.#isClosed) this.#retry = setTimeout(() => this.#start(), RETRY_MS).unref();
  }

  #recover(): void {
    const { path, log } = this.#options;
    if (this.#isFailing || this.#lost > 0) log.warn({ file: path, lost: this.#lost }, "The audit log is written again");
    this.#isFailing = false;
    this.#lost = 0;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
