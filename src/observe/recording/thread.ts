/**
 * The part of the recorder that has its own thread: masks lines and writes them.
 *
 * Nearly all lines hold nothing to mask and go to the file as they came. Invariant: no line is
 * written before its secrets are masked, and no message can end its line or pass for a member of
 * it.
 */
import { scanValue } from "../../lib/json/json-scan.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { FRAME, lineEnding } from "./frame.ts";
import { type Masks, maskMessage } from "./mask-message.ts";
import type { Batch, FromThread, ThreadData, ToThread } from "./recording.ts";
import { SecretScan } from "./secret-scan.ts";
import { SegmentFiles } from "./segment-files.ts";

export interface ThreadParts {
  readonly data: ThreadData;
  readonly masks: Masks & { hide(secrets: readonly string[]): void };
  readonly say: (message: FromThread, transfer?: readonly ArrayBuffer[]) => void;
}

const RETRY_MS = 1_000;
const NEWLINE = 10;
/** How many parts one write takes on every system. */
const MAX_PARTS = 512;
const FRAME_BYTES = Buffer.from(FRAME);
const TEXT = ',"text":';

export class RecordingThread {
  readonly #parts: ThreadParts;
  readonly #files: SegmentFiles;
  #scan = new SecretScan([]);
  #failedAt: number | undefined;
  /** The segment for which the members of the index were requested. */
  #described = 0;

  constructor(parts: ThreadParts) {
    this.#parts = parts;
    this.#files = new SegmentFiles(parts.data);
  }

  take(message: ToThread): void {
    const { masks, say } = this.#parts;
    if (message.kind === "secrets") {
      masks.hide(message.secrets);
      this.#scan = new SecretScan(message.secrets);
    } else if (message.kind === "batch") {
      const { memory, bytes, lines } = message.batch;
      const lost = this.#write(message.batch);
      say({ kind: "done", memory, bytes, written: lines - lost, lost, total: this.#files.bytes }, [memory]);
    } else {
      this.#files.about = maskMessage(`{${message.about}}`, true, masks).text.slice(1, -1);
      if (message.isLast) {
        this.#files.close();
        say({ kind: "closed" });
      } else this.#try(() => this.#files.writeIndex());
    }
  }

  /** Writes the lines of a batch. Returns how many are lost. */
  #write(batch: Batch): number {
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < RETRY_MS) return batch.lines;
    const bytes = Buffer.from(batch.memory, 0, batch.bytes);
    const scanned = { bytes, pairs: new Uint16Array(batch.memory) };
    /** The index of the next line in `batch.unread`. */
    let unread = 0;
    let parts: Uint8Array[] = [];
    let [size, lines, lost] = [0, 0, 0];
    let room = this.#files.room;
    /** Where the lines begin that go to the file as they are. */
    let clean = 0;
    /** Where the first line that is to be written begins, and the newest one. */
    let [first, newest] = [0, 0];
    const flush = (end: number): void => {
      if (clean < end) parts.push(bytes.subarray(clean, end));
      clean = end;
      const bundle = { parts, bytes: size, lines, from: timeOf(bytes, first), until: timeOf(bytes, newest) };
      if (lines > 0 && !this.#try(() => this.#files.write(bundle))) lost += lines;
      parts = [];
      size = lines = 0;
      room = this.#files.room;
    };
    let start = 0;
    for (let line = 0; line < batch.lines; line++) {
      const end = bytes.indexOf(NEWLINE, start) + 1;
      const isUnread = batch.unread[unread] === line;
      if (isUnread) unread++;
      const isPlain = !this.#scan.finds(scanned, start, end - 1) && (!isUnread || isFrame(bytes, start, end));
      const masked = isPlain ? undefined : this.#masked(bytes.toString("utf8", start, end - 1), isUnread);
      const length = masked?.length ?? end - start;
      if ((size + length > room && lines > 0) || parts.length >= MAX_PARTS) {
        flush(start);
        // Another segment.
        if (length > room) room = this.#files.segmentBytes;
      }
      newest = start;
      if (lines === 0) first = start;
      size += length;
      lines++;
      if (masked) {
        if (clean < start) parts.push(bytes.subarray(clean, start));
        parts.push(masked);
        clean = end;
      }
      start = end;
    }
    flush(start);
    if (this.#described !== this.#files.number) {
      this.#described = this.#files.number;
      this.#parts.say({ kind: "ask" });
    }
    return lost;
  }

  /** Masks a line, which has no line break. */
  #masked(line: string, isUnread: boolean): Uint8Array {
    const { masks } = this.#parts;
    // In a name, the quotes would be escaped.
    const [at, member] = [FRAME, TEXT]
      .map((name) => [line.indexOf(name), name] as const)
      .find(([place]) => place !== -1) ?? [-1];
    // It has no message.
    if (at === -1 || member === undefined) return Buffer.from(`${masks.json(line)}\n`);
    const written = line.slice(at + member.length, -1);
    const message = member === TEXT ? (JSON.parse(written) as string) : written;
    const { text, ...kind } = maskMessage(message, !isUnread, masks);
    return Buffer.from(masks.json(line.slice(0, at)) + lineEnding(text, kind));
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

/** Whether the message of a line is one JSON value. */
function isFrame(bytes: Buffer, start: number, end: number): boolean {
  const at = bytes.indexOf(FRAME_BYTES, start);
  if (at === -1 || at >= end) return true;
  const message = bytes.subarray(at + FRAME_BYTES.length, end - 2);
  return scanValue(message, 0) === message.length;
}

/** The time that a line begins with, in whole milliseconds. */
function timeOf(bytes: Buffer, start: number): number {
  return Math.floor(Number.parseFloat(bytes.toString("latin1", start + '{"t":'.length, start + 25)));
}
