/**
 * The file of the audit log: takes lines at once and appends them later, in their order.
 *
 * A line is in the file, waits in memory, or is counted as lost; there is no fourth. A file that
 * cannot be written is closed and tried again. A regular file is rotated before it grows beyond its
 * limit; pipes and devices are not.
 */

import { LineFile } from "../../../lib/structures/line-file.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";

/** More than this is not kept while the disk does not take it. */
const MAX_WAITING = 16 * 1024 * 1024;
const RETRY_MS = 1_000;

export interface AuditFileOptions {
  readonly path: string;
  /** Asked whenever it matters, since the config may change. */
  readonly rotation: () => { readonly maxBytes: number; readonly keep: number };
  readonly onLost: (lines: number) => void;
  readonly log: Pick<Logger, "error" | "warn">;
}

export class AuditFile {
  readonly #options: AuditFileOptions;
  readonly #file: LineFile;
  /** The bytes in the file at the last rotation that failed. */
  #ignoredBytes = 0;
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
    this.#file = new LineFile(options.path);
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
    await this.#file.close();
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
        if (this.#isMoved) await this.#file.close();
        this.#isMoved = false;
        await this.#file.open();
        if (this.#isFull()) await this.#rotate();
        else await this.#append(this.#take());
      }
      this.#recover();
    } catch (error) {
      await this.#fail(error);
    }
    this.#writing = undefined;
  }

  /** Whether the next line has to go to a new file. One that is too long for any goes as it is. */
  #isFull(): boolean {
    const { maxBytes } = this.#options.rotation();
    const [line] = this.#waiting;
    if (line === undefined || maxBytes === 0 || !this.#file.isRegular || this.#size === 0) return false;
    return this.#size + Buffer.byteLength(line) + 1 > maxBytes;
  }

  /** The bytes that count towards the next rotation. */
  get #size(): number {
    return Math.max(0, this.#file.bytes - this.#ignoredBytes);
  }

  async #rotate(): Promise<void> {
    const { path, rotation, log } = this.#options;
    await this.#file.measure();
    if (!this.#isFull()) return;
    try {
      await this.#file.rotate(rotation().keep);
      this.#ignoredBytes = 0;
    } catch (error) {
      log.error(
        { file: path, error: messageOf(error) },
        "The audit log cannot be rotated and keeps growing: make its folder writable",
      );
      // Tried again when as much has come once more.
      this.#ignoredBytes = this.#file.bytes;
    }
  }

  /** The next lines that fit into the file together. */
  #take(): string[] {
    const { maxBytes } = this.#options.rotation();
    let room = maxBytes === 0 || !this.#file.isRegular ? Number.POSITIVE_INFINITY : maxBytes - this.#size;
    let count = 0;
    for (const line of this.#waiting) {
      room -= Buffer.byteLength(line) + 1;
      if (room < 0 && count > 0) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { written, error } = await this.#file.append(lines);
    for (const line of lines.slice(0, written)) this.#waitingSize -= line.length;
    if (written === lines.length) return;
    this.#waiting = [...lines.slice(written), ...this.#waiting];
    throw error;
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
    await this.#file.close();
    if (!this.#isClosed) this.#retry = setTimeout(() => this.#start(), RETRY_MS).unref();
  }

  #recover(): void {
    const { path, log } = this.#options;
    if (this.#isFailing || this.#lost > 0) log.warn({ file: path, lost: this.#lost }, "The audit log is written again");
    this.#isFailing = false;
    this.#lost = 0;
  }
}
