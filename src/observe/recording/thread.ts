/**
 * The part of the recorder that has a thread of its own: masks lines and writes them.
 *
 * Nearly all lines hold nothing to mask. They go to the file from the memory in which they came, as
 * bytes that nobody copied. Invariant: no line is written before its secrets are masked, and no
 * message can end its line or pass for a member of it.
 */
import { scanValue } from "../../lib/json/json-scan.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { frameLine, readFrames } from "./frame.ts";
import { type Masks, maskMessage } from "./mask-message.ts";
import { SecretScan } from "./secret-scan.ts";
import { SegmentFiles } from "./segment-files.ts";
import {
  type Batch,
  endOf,
  type FromThread,
  kindOf,
  type ThreadData,
  type ToThread,
  UNCHECKED,
  WHOLE,
} from "./thread-messages.ts";
import { WHOLE_FRAMES } from "./whole-call.ts";

/** A batch with its memory. */
interface Lines extends Batch {
  readonly bytes: Buffer;
  readonly pairs: Uint16Array;
  readonly table: Uint32Array;
}

export interface ThreadParts {
  readonly data: ThreadData;
  readonly masks: Masks & { hide(secrets: readonly string[]): void };
  readonly say: (message: FromThread) => void;
}

const RETRY_MS = 1_000;
const MEMBER = ',"frame":'.length;
/** How many parts one write takes on every system. */
const MAX_PARTS = 512;

export class RecordingThread {
  readonly #parts: ThreadParts;
  readonly #files: SegmentFiles;
  #scan = new SecretScan([]);
  readonly #slots = new Map<number, Pick<Lines, "bytes" | "pairs" | "table">>();
  #failedAt: number | undefined;
  /** The segment for which the members of the index were asked. */
  #asked = 0;
  #isDirty = new Uint8Array(0);

  constructor(parts: ThreadParts) {
    this.#parts = parts;
    this.#files = new SegmentFiles(parts.data);
  }

  take(message: ToThread): void {
    const { masks, say } = this.#parts;
    if (message.kind === "secrets") {
      masks.hide(message.secrets);
      this.#scan = new SecretScan(message.secrets);
    } else if (message.kind === "slot") {
      const { number, slot } = message;
      if (!slot) this.#slots.delete(number);
      else {
        const { bytes, table } = slot;
        // A last byte without a pair is never part of a message.
        const pairs = new Uint16Array(bytes, 0, bytes.byteLength >>> 1);
        this.#slots.set(number, { bytes: Buffer.from(bytes), pairs, table: new Uint32Array(table) });
      }
    } else if (message.kind === "batch") {
      const { slot, frames } = message.batch;
      const lost = this.#write({ ...message.batch, ...this.#slots.get(slot)! });
      say({ kind: "done", slot, written: frames - lost, lost, total: this.#files.bytes });
    } else {
      this.#files.about = maskMessage(`{${message.about}}`, true, masks).text.slice(1, -1);
      if (message.isLast) {
        this.#files.close();
        say({ kind: "closed" });
      } else this.#try(() => this.#files.writeIndex());
    }
  }

  /** Writes the lines of a batch. Returns how many messages are lost. */
  #write(batch: Lines): number {
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < RETRY_MS) return batch.frames;
    const { bytes, table, lines: all, from, until } = batch;
    this.#look(batch);
    let parts: Uint8Array[] = [];
    let size = 0;
    let lines = 0;
    let frames = 0;
    let lost = 0;
    let room = this.#files.room;
    /** Where the lines begin that go to the file as they are. */
    let clean = 0;
    const flush = (end: number): void => {
      if (clean < end) parts.push(bytes.subarray(clean, end));
      clean = end;
      const bundle = { parts, bytes: size, lines, from, until };
      if (lines > 0 && !this.#try(() => this.#files.write(bundle))) lost += frames;
      parts = [];
      size = lines = frames = 0;
      room = this.#files.room;
    };
    for (let line = 0, start = 0; line < all; line++) {
      const packed = table[2 * line + 1]!;
      const end = endOf(packed) + 2;
      const masked = this.#isDirty[line] === 1 ? this.#masked(batch, line) : undefined;
      const length = masked?.length ?? end - start;
      if ((size + length > room && lines > 0) || parts.length >= MAX_PARTS) {
        flush(start);
        // Another segment.
        if (length > room) room = this.#files.segmentBytes;
      }
      size += length;
      const count = kindOf(packed) === WHOLE ? WHOLE_FRAMES : 1;
      frames += count;
      lines += masked ? count : 1;
      if (masked) {
        if (clean < start) parts.push(bytes.subarray(clean, start));
        parts.push(masked);
        clean = end;
      }
      start = end;
    }
    flush(all === 0 ? 0 : endOf(table[2 * all - 1]!) + 2);
    if (this.#asked !== this.#files.number) {
      this.#asked = this.#files.number;
      this.#parts.say({ kind: "ask" });
    }
    return lost;
  }

  /** Finds the lines that cannot go to the file as they are. */
  #look(batch: Lines): void {
    const { bytes, table, lines } = batch;
    if (this.#isDirty.length < lines) this.#isDirty = new Uint8Array(lines * 2);
    const dirty = this.#isDirty.fill(0);
    for (let line = 0; line < lines; line++) {
      const body = table[2 * line]!;
      const packed = table[2 * line + 1]!;
      const end = endOf(packed);
      const isPlain =
        !this.#scan.finds(batch, body, end) && (kindOf(packed) !== UNCHECKED || isJson(bytes.subarray(body, end)));
      if (!isPlain) dirty[line] = 1;
    }
  }

  #masked({ bytes, table }: Lines, line: number): Uint8Array | undefined {
    const { masks } = this.#parts;
    const start = line === 0 ? 0 : endOf(table[2 * line - 1]!) + 2;
    const body = table[2 * line]!;
    const packed = table[2 * line + 1]!;
    const end = endOf(packed);
    // It has no message.
    if (body === end) return undefined;
    const masked = (head: string, message: string, isChecked: boolean): string => {
      const { text, ...kind } = maskMessage(message, isChecked, masks);
      return frameLine(masks.json(head), text, kind);
    };
    if (kindOf(packed) === WHOLE) {
      // Each message is masked by itself, as if it had come by itself.
      const lines = readFrames(bytes.toString("utf8", start, end + 1)).map(({ message, ...head }) =>
        masked(JSON.stringify(head).slice(0, -1), message!, true),
      );
      return Buffer.from(lines.join(""));
    }
    const head = bytes.toString("latin1", start, body - MEMBER);
    return Buffer.from(masked(head, bytes.toString("utf8", body, end), kindOf(packed) !== UNCHECKED));
  }

  /** Returns whether it worked. */
  #try(act: () => void): boolean {
    const { say } = this.#parts;
    try {
      act();
      if (this.#failedAt !== undefined) say({ kind: "state", problem: undefined });
      this.#failedAt = undefined;
      return true;
    } catch (error) {
      if (this.#failedAt === undefined) say({ kind: "state", problem: messageOf(error) });
      this.#failedAt = performance.now();
      return false;
    }
  }
}

function isJson(bytes: Buffer): boolean {
  return scanValue(bytes, 0) === bytes.length;
}
