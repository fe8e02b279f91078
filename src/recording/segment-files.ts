/**
 * The files of a recording: lines go to numbered segments, and an index says what is in them.
 *
 * Invariant: lines wait in memory only up to a limit; what the disk does not take in time is
 * dropped and counted. All recordings in the folder together keep to `maxBytes`: the oldest
 * segment goes first. Only the owner can read the files, and a file that exists is never written
 * to.
 */
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../protocol/errors.ts";

export interface SegmentOptions {
  readonly dir: string;
  readonly maxBytes: number;
  /** The name of this recording: sorts by its start. */
  readonly run: string;
  /** Members of the index that the recording knows: JSON without braces. */
  readonly about: () => string;
  readonly onWritten: (lines: number) => void;
  readonly onLost: (lines: number) => void;
  /** Called when the disk begins to refuse lines, and when it takes them again (undefined). */
  readonly onState: (problem: string | undefined) => void;
}

export interface Segment {
  readonly file: string;
  lines: number;
  bytes: number;
  from: number;
  until: number;
}

interface Chunk {
  readonly bytes: Buffer;
  used: number;
  lines: number;
  readonly from: number;
  until: number;
}

export const SEGMENT_NAME = /^\d{8}T\d{6}Z-\d+-\d{6}\.ndjson$/;
const MAX_WAITING = 16 * 1024 * 1024;
const WRITE_BYTES = 128 * 1024;
const WRITE_MS = 200;
const RETRY_MS = 1_000;
const LARGEST_SEGMENT = 16 * 1024 * 1024;

export class SegmentFiles {
  readonly #options: SegmentOptions;
  readonly #segments: Segment[] = [];
  #handle: FileHandle | undefined;
  #number = 0;
  /** What is being filled; its lines are bytes at once, so that the heap holds none of them. */
  #chunk: Chunk | undefined;
  #waiting: Chunk[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;
  bytes = 0;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /** The most characters that one line may have. */
  get segmentBytes(): number {
    return Math.min(LARGEST_SEGMENT, Math.ceil(this.#options.maxBytes / 8));
  }

  /** Whether lines are being dropped. */
  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING;
  }

  /** Takes a line, with its line feed. */
  add(line: string, t: number): void {
    if (this.#isClosed || this.isFull) return this.#options.onLost(1);
    // No character takes more than three bytes.
    const most = line.length * 3;
    if (this.#chunk && this.#chunk.used + most > this.#chunk.bytes.length) this.#seal();
    this.#chunk ??= this.#newChunk(most, t);
    this.#chunk.used += this.#chunk.bytes.write(line, this.#chunk.used);
    this.#chunk.lines++;
    this.#chunk.until = t;
    if (this.#writing) return;
    if (this.#waiting.length > 0 && !this.#isFailing) this.#start();
    else this.#later();
  }

  #newChunk(least: number, from: number): Chunk {
    const size = Math.max(least, Math.min(WRITE_BYTES, this.segmentBytes));
    return { bytes: Buffer.allocUnsafeSlow(size), used: 0, lines: 0, from, until: from };
  }

  #seal(): void {
    if (!this.#chunk) return;
    this.#waiting.push(this.#chunk);
    this.#waitingBytes += this.#chunk.used;
    this.#chunk = undefined;
  }

  #later(): void {
    this.#timer ??= setTimeout(() => this.#start(), this.#isFailing ? RETRY_MS : WRITE_MS).unref();
  }

  /** Writes what waits, as far as the disk takes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    this.#seal();
    while (this.#waiting.length > 0 && !this.#isFailing) await this.#write();
    this.#options.onLost(this.#waiting.reduce((sum, { lines }) => sum + lines, 0));
    this.#waiting = [];
    await this.#release();
    if (this.#segments.length > 0) await this.#writeIndex().catch(() => {});
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#seal();
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if ((this.#waiting.length > 0 || this.#chunk) && !this.#isClosed) this.#later();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#write();
      if (this.#isFailing) return;
    }
  }

  async #write(): Promise<void> {
    const chunk = this.#waiting[0]!;
    const { bytes, used, lines, from, until } = chunk;
    try {
      if (this.#handle && this.#segments.at(-1)!.bytes + used > this.segmentBytes) await this.#release();
      this.#handle ??= await this.#open();
      const segment = this.#segments.at(-1)!;
      let written = 0;
      while (written < used) written += (await this.#handle.write(bytes, written, used - written)).bytesWritten;
      segment.lines += lines;
      segment.bytes += used;
      segment.from ||= from;
      segment.until = until;
      this.bytes += used;
      this.#options.onWritten(lines);
      this.#told(undefined);
    } catch (error) {
      // Part of them may be in the file; a line that is not whole is passed over by readers.
      this.#options.onLost(lines);
      await this.#release();
      this.#told(messageOf(error));
    } finally {
      this.#waiting.shift();
      this.#waitingBytes -= used;
    }
  }

  #told(problem: string | undefined): void {
    if (this.#isFailing === (problem !== undefined)) return;
    this.#isFailing = problem !== undefined;
    this.#options.onState(problem);
  }

  async #open(): Promise<FileHandle> {
    const { dir, run } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await this.#makeRoom();
    const file = `${run}-${String(++this.#number).padStart(6, "0")}.ndjson`;
    // "x": a file or link that somebody else put there is not followed.
    const handle = await open(join(dir, file), "ax", 0o600);
    this.#segments.push({ file, lines: 0, bytes: 0, from: 0, until: 0 });
    await this.#writeIndex();
    return handle;
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
  }

  /** Removes the oldest segments until a new one fits. */
  async #makeRoom(): Promise<void> {
    const { dir, maxBytes } = this.#options;
    const names = (await readdir(dir)).filter((name) => SEGMENT_NAME.test(name)).sort();
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(dir, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const [index, name] of names.entries()) {
      if (total + this.segmentBytes <= maxBytes) return;
      await rm(join(dir, name), { force: true });
      total -= sizes[index]!;
      const run = name.slice(0, name.lastIndexOf("-"));
      const isLast = !names.slice(index + 1).some((other) => other.startsWith(`${run}-`));
      if (isLast && run !== this.#options.run) await rm(join(dir, `${run}.index.json`), { force: true });
      const own = this.#segments.findIndex(({ file }) => file === name);
      if (own !== -1) this.#segments.splice(own, 1);
    }
  }

  /** The index is replaced as a whole: readers see an old one or a new one. */
  async #writeIndex(): Promise<void> {
    const { dir, run, about } = this.#options;
    const text = `{"version":1,"run":"${run}","segments":${JSON.stringify(this.#segments)},${about()}}\n`;
    const path = join(dir, `${run}.index.json`);
    const draft = `${path}.${process.pid}.new`;
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  }
}
