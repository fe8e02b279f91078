/**
 * The files of a recording: lines go to numbered segments, and an index says what is in them.
 *
 * Everything here is synchronous: it runs on the recorder's own thread. Invariant: all recordings
 * in the folder together keep to `maxBytes`: the oldest segment goes first. Only the owner can read
 * the files, and a file that exists is never written to.
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
  writevSync,
} from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../lib/structures/write-file-atomic.ts";

export interface SegmentOptions {
  readonly dir: string;
  readonly maxBytes: number;
  /** The name of this recording: sorts by its start. */
  readonly run: string;
}

export interface Segment {
  readonly file: string;
  lines: number;
  bytes: number;
  from: number;
  until: number;
}

/** Lines that are written at once. */
export interface LineBundle {
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  readonly lines: number;
  readonly from: number;
  readonly until: number;
}

export const SEGMENT_NAME = /^\d{8}T\d{6}Z-\d+-\d{6}\.ndjson$/;
/** The format of lines and index. */
export const FORMAT = 2;
const MAX_TRIES = 100;
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;

export class SegmentFiles {
  readonly #options: SegmentOptions;
  readonly #segments: Segment[] = [];
  #handle: number | undefined;
  /** Members of the index that the recording knows: JSON without braces. */
  about = '"servers":{}';
  bytes = 0;
  /** The number of the newest segment; 0 before the first. */
  number = 0;

  constructor(options: SegmentOptions) {
    this.#options = options;
  }

  /** How many bytes fit into one segment. */
  get segmentBytes(): number {
    return Math.min(MAX_SEGMENT_BYTES, Math.ceil(this.#options.maxBytes / 8));
  }

  /** How many bytes still fit into the current segment. */
  get room(): number {
    return this.#handle === undefined ? this.segmentBytes : this.segmentBytes - this.#segments.at(-1)!.bytes;
  }

  /** Writes lines to one segment. Throws if the disk does not take all of them. */
  write({ parts, bytes, lines, from, until }: LineBundle): void {
    try {
      if (bytes > this.room) this.#release();
      this.#handle ??= this.#open();
      const written = writevSync(this.#handle, parts);
      if (written < bytes) writeRest(this.#handle, Buffer.concat(parts).subarray(written));
    } catch (error) {
      this.#cutTorn();
      this.#release();
      throw error;
    }
    const segment = this.#segments.at(-1)!;
    segment.lines += lines;
    segment.bytes += bytes;
    segment.from ||= from;
    segment.until = until;
    this.bytes += bytes;
  }

  close(): void {
    this.#release();
    try {
      this.writeIndex();
    } catch {
      // The segments can be read without it.
    }
  }

  #open(): number {
    const { dir } = this.#options;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#makeRoom();
    const { handle, file } = this.#create();
    this.#segments.push({ file, lines: 0, bytes: 0, from: 0, until: 0 });
    try {
      this.writeIndex();
    } catch (error) {
      closeSync(handle);
      throw error;
    }
    return handle;
  }

  /** Makes a new file. Another recording that began in the same second has the same names. */
  #create(): { readonly handle: number; readonly file: string } {
    const { dir, run } = this.#options;
    for (let tries = 1; ; tries++) {
      const file = `${run}-${String(++this.number).padStart(6, "0")}.ndjson`;
      try {
        // "x": a file or link that somebody else put there is not followed.
        return { handle: openSync(join(dir, file), "ax", 0o600), file };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** Takes back the part of a failed write that the disk took. */
  #cutTorn(): void {
    if (this.#handle === undefined) return;
    try {
      ftruncateSync(this.#handle, this.#segments.at(-1)!.bytes);
    } catch {
      // Readers skip a line that is not whole.
    }
  }

  #release(): void {
    if (this.#handle === undefined) return;
    try {
      closeSync(this.#handle);
    } catch {
      // Its lines were written, or the failed write was reported.
    }
    this.#handle = undefined;
  }

  /** Removes the oldest segments until a new one fits. */
  #makeRoom(): void {
    const { dir, maxBytes } = this.#options;
    const names = readdirSync(dir)
      .filter((name) => SEGMENT_NAME.test(name))
      .sort();
    const sizes = names.map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0);
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const [index, name] of names.entries()) {
      if (total + this.segmentBytes <= maxBytes) return;
      rmSync(join(dir, name), { force: true });
      total -= sizes[index]!;
      const run = name.slice(0, name.lastIndexOf("-"));
      const isLast = !names.slice(index + 1).some((other) => other.startsWith(`${run}-`));
      if (isLast && run !== this.#options.run) rmSync(join(dir, `${run}.index.json`), { force: true });
      const own = this.#segments.findIndex(({ file }) => file === name);
      if (own !== -1) this.#segments.splice(own, 1);
    }
  }

  /** The index is replaced as a whole: readers see an old one or a new one. */
  writeIndex(): void {
    if (this.#segments.length === 0) return;
    const { dir, run } = this.#options;
    const text = `{"version":${FORMAT},"run":"${run}","segments":${JSON.stringify(this.#segments)},${this.about}}\n`;
    // The segments can be read without it, and the recorder must not wait for the disk.
    writeFileAtomicSync(join(dir, `${run}.index.json`), text, { isDurable: false });
  }
}

function writeRest(handle: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(handle, bytes, written);
}
