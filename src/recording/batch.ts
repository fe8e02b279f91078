/**
 * Collects lines for the recorder's thread, in memory that the thread sees, too.
 *
 * Invariant: at most `MOST_BYTES` of such memory exist, and nothing is written to a slot while the
 * thread has it. A line that finds no room is refused.
 */
import type { Raw } from "../protocol/json-rpc.ts";
import type { Batch, Slot } from "./thread-messages.ts";

const SLOT_BYTES = 256 * 1024;
const MOST_LINES = 2048;
const MOST_BYTES = 16 * 1024 * 1024;
const CLOSE_BRACE = 125;
const NEWLINE = 10;
/** The bytes of a line after its message. */
const CLOSING = 2;

/** A line without its message and its last two bytes. ASCII only. */
export interface Opening {
  readonly text: string;
  /** How much of the message the text has already. */
  readonly begun: number;
  /** What the message has after `raw`. ASCII only. */
  readonly after: string;
  readonly isUnchecked: boolean;
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
  #lines = 0;
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
    const { text, begun, after, isUnchecked } = opening;
    const most = text.length + raw.length * (typeof raw === "string" ? 3 : 1) + after.length + CLOSING;
    if (!this.#hasRoom(most)) {
      const exact = text.length + Buffer.byteLength(raw) + after.length + CLOSING;
      if (!this.#hasRoom(exact) && !this.#begin(exact)) return false;
    }
    const { bytes, table } = this.#slot!;
    const start = this.#used;
    let end: number;
    if (typeof raw === "string") {
      // One write of all of it costs less than three.
      end = start + bytes.write(`${text}${raw}${after}}\n`, start) - CLOSING;
    } else {
      end = start + bytes.write(text, start, "latin1");
      bytes.set(raw, end);
      end += raw.length;
      if (after !== "") end += bytes.write(after, end, "latin1");
      bytes[end] = CLOSE_BRACE;
      bytes[end + 1] = NEWLINE;
    }
    const entry = this.#lines * 2;
    table[entry] = start + text.length - begun;
    table[entry + 1] = end * 2 + (isUnchecked ? 1 : 0);
    if (this.#lines++ === 0) this.#from = t;
    this.#until = t;
    this.#used = end + CLOSING;
    return true;
  }

  /** Returns the lines so far, for the thread. */
  take(): Batch {
    const slot = this.#slot!;
    const batch = { slot: slot.number, lines: this.#lines, from: this.#from, until: this.#until };
    this.#taken.set(slot.number, slot);
    this.#slot = undefined;
    this.#lines = this.#used = 0;
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
    return this.#slot !== undefined && this.#lines < MOST_LINES && this.#used + size <= this.#slot.bytes.length;
  }

  /** Begins a batch that has room for a line of this size, if there are no lines that wait. */
  #begin(size: number): boolean {
    if (this.#lines > 0) return false;
    if (this.#slot) this.#free.push(this.#slot);
    this.#slot = (size <= SLOT_BYTES ? this.#free.pop() : undefined) ?? this.#make(Math.max(size, SLOT_BYTES));
    return this.#slot !== undefined;
  }

  #make(size: number): OwnSlot | undefined {
    if (this.#made + size > MOST_BYTES) return undefined;
    this.#made += size;
    const bytes = new SharedArrayBuffer(size);
    const table = new SharedArrayBuffer(2 * MOST_LINES * Uint32Array.BYTES_PER_ELEMENT);
    const number = ++this.#numbers;
    this.#onSlot(number, { bytes, table });
    return { number, bytes: Buffer.from(bytes), table: new Uint32Array(table) };
  }
}
