/**
 * Collects lines for the recorder's thread, in memory that the thread sees, too.
 *
 * Short lines are put together as one text first: a write of many costs about as much as a write of
 * one. Nearly all of them are ASCII, so where a line will stand is known before it is written.
 *
 * Invariant: at most `MAX_BYTES` of such memory exist, and nothing is written to a slot while the
 * thread has it. A line that finds no room is refused.
 */
import type { Raw } from "../../mcp/protocol/json-rpc.ts";
import { type Batch, endOf, kindOf, type LineKind, packedEnd, type Slot, WHOLE } from "./thread-messages.ts";
import { WHOLE_FRAMES } from "./whole-call.ts";

const SLOT_BYTES = 256 * 1024;
const MAX_LINES = 2048;
const MAX_BYTES = 16 * 1024 * 1024;
const CLOSE_BRACE = 125;
const NEWLINE = 10;
/** The bytes of a line after its message. */
const CLOSING = 2;
/** A longer line is written by itself. */
const SHORT_LINE = 4096;
/** So much text is written at once. */
const TEXT_LENGTH = 16 * 1024;
/** The most bytes that one character of a text takes. */
const MAX_BYTES_PER_CHARACTER = 3;

/** A line without its message and its last two bytes. */
export interface Opening {
  readonly text: string;
  /** How much of the message the text has already. Only that part may be other than ASCII. */
  readonly begun: number;
  /** What the message has after `raw`. ASCII only. */
  readonly after: string;
  readonly kind: LineKind;
}

interface OwnSlot {
  readonly number: number;
  readonly bytes: Buffer;
  readonly table: Uint32Array;
}

export class Batches {
  readonly #onSlot: (number: number, slot: Slot | undefined) => void;
  #slot: OwnSlot | undefined;
  #used = 0;
  /** Lines that are not written yet, and how many. */
  #text = "";
  #textLines = 0;
  #lines = 0;
  #frames = 0;
  #from = 0;
  #until = 0;
  readonly #free: OwnSlot[] = [];
  readonly #taken = new Map<number, OwnSlot>();
  #made = 0;
  #numbers = 0;

  /** `onSlot`: memory that the thread must know, or forget (undefined). */
  constructor(onSlot: (number: number, slot: Slot | undefined) => void) {
    this.#onSlot = onSlot;
  }

  get isEmpty(): boolean {
    return this.#lines === 0;
  }

  /** Adds a line. False: it has to wait for `take`, or there is no room at all. */
  add(opening: Opening, raw: Raw, t: number): boolean {
    const size = opening.text.length + raw.length + opening.after.length + CLOSING;
    const text = size <= SHORT_LINE ? shortText(raw) : undefined;
    const isAdded = text === undefined ? this.#addLong(opening, raw) : this.#addShort(opening, text, size);
    if (!isAdded) return false;
    if (this.#lines++ === 0) this.#from = this.#until = t;
    else if (t < this.#from) this.#from = t;
    else if (t > this.#until) this.#until = t;
    this.#frames += opening.kind === WHOLE ? WHOLE_FRAMES : 1;
    if (this.#text.length >= TEXT_LENGTH) this.write();
    return true;
  }

  #addShort({ text, begun, after, kind }: Opening, raw: string, size: number): boolean {
    const most = (this.#text.length + size) * MAX_BYTES_PER_CHARACTER;
    if (!this.#hasRoom(most)) {
      this.write();
      if (!this.#hasRoom(size * MAX_BYTES_PER_CHARACTER) && !this.#begin(size * MAX_BYTES_PER_CHARACTER)) return false;
    }
    const start = this.#used + this.#text.length;
    this.#text += `${text}${raw}${after}}\n`;
    this.#textLines++;
    this.#note(start + text.length - begun, start + size - CLOSING, kind);
    return true;
  }

  #addLong({ text, begun, after, kind }: Opening, raw: Raw): boolean {
    this.write();
    const size = Buffer.byteLength(text) + Buffer.byteLength(raw) + after.length + CLOSING;
    if (!this.#hasRoom(size) && !this.#begin(size)) return false;
    const { bytes } = this.#slot!;
    const start = this.#used;
    let end = start + bytes.write(text, start);
    if (typeof raw === "string") end += bytes.write(raw, end);
    else {
      bytes.set(raw, end);
      end += raw.length;
    }
    if (after !== "") end += bytes.write(after, end, "latin1");
    bytes[end] = CLOSE_BRACE;
    bytes[end + 1] = NEWLINE;
    this.#used = end + CLOSING;
    this.#note(start + text.length - begun, end, kind);
    return true;
  }

  /** Says where the message of the next line is. */
  #note(body: number, end: number, kind: LineKind): void {
    const { table } = this.#slot!;
    const entry = this.#lines * 2;
    table[entry] = body;
    table[entry + 1] = packedEnd(end, kind);
  }

  /** Writes the lines so far into their slot. */
  write(): void {
    const text = this.#text;
    if (text === "") return;
    const { bytes } = this.#slot!;
    if (Buffer.byteLength(text) === text.length) this.#used += bytes.write(text, this.#used, "latin1");
    else this.#writeWide(text);
    this.#text = "";
    this.#textLines = 0;
  }

  /** Writes lines whose characters take more than a byte: each one stands elsewhere than noted. */
  #writeWide(text: string): void {
    const { bytes, table } = this.#slot!;
    const base = this.#used;
    for (let line = this.#lines - this.#textLines, from = 0; line < this.#lines; line++) {
      const packed = table[2 * line + 1]!;
      const until = endOf(packed) + CLOSING - base;
      const head = table[2 * line]! - base - from;
      const end = this.#used + bytes.write(text.slice(from, until), this.#used) - CLOSING;
      table[2 * line] = this.#used + head;
      table[2 * line + 1] = packedEnd(end, kindOf(packed));
      this.#used = end + CLOSING;
      from = until;
    }
  }

  /** Returns the lines so far, for the thread. */
  take(): Batch {
    this.write();
    const slot = this.#slot!;
    const batch = { slot: slot.number, lines: this.#lines, frames: this.#frames, from: this.#from, until: this.#until };
    this.#taken.set(slot.number, slot);
    this.#slot = undefined;
    this.#lines = this.#frames = this.#used = 0;
    return batch;
  }

  /** Takes a slot back from the thread. */
  give(number: number): void {
    const slot = this.#taken.get(number)!;
    this.#taken.delete(number);
    if (slot.bytes.length === SLOT_BYTES) this.#free.push(slot);
    else {
      this.#made -= slot.bytes.length;
      this.#onSlot(number, undefined);
    }
  }

  #hasRoom(size: number): boolean {
    return this.#slot !== undefined && this.#lines < MAX_LINES && this.#used + size <= this.#slot.bytes.length;
  }

  /** Begins a batch that has room for a line of this size, if there are no lines that wait. */
  #begin(size: number): boolean {
    if (this.#lines > 0) return false;
    if (this.#slot) this.#free.push(this.#slot);
    this.#slot = (size <= SLOT_BYTES ? this.#free.pop() : undefined) ?? this.#make(Math.max(size, SLOT_BYTES));
    return this.#slot !== undefined;
  }

  #make(size: number): OwnSlot | undefined {
    if (this.#made + size > MAX_BYTES) return undefined;
    this.#made += size;
    const bytes = new SharedArrayBuffer(size);
    const table = new SharedArrayBuffer(2 * MAX_LINES * Uint32Array.BYTES_PER_ELEMENT);
    const number = ++this.#numbers;
    this.#onSlot(number, { bytes, table });
    return { number, bytes: Buffer.from(bytes), table: new Uint32Array(table) };
  }
}

/** A short message as a text; undefined if it has to stay the bytes that it is. */
function shortText(raw: Raw): string | undefined {
  if (typeof raw === "string") return raw;
  const text = raw.toString("latin1");
  return Buffer.byteLength(text) === raw.length ? text : undefined;
}
