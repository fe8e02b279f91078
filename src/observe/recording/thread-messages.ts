/**
 * What the recorder and its thread say to each other. Lines are in memory that both see: it belongs
 * to the thread from "batch" until "done", and else to the recorder. Messages with memory of their
 * own would cost more than all the rest: each one makes work for the garbage collector.
 */

/** What the thread is told when it starts. */
export interface ThreadData {
  readonly dir: string;
  readonly maxBytes: number;
  readonly run: string;
}

/**
 * Lines one after the other, as they are written if nothing in them is masked. In `table`, two
 * numbers for each line: where its message begins, and four times where the message ends, plus the
 * line's kind. A line ends two bytes after its message; one without a message has an empty one.
 */
export interface Slot {
  readonly bytes: SharedArrayBuffer;
  readonly table: SharedArrayBuffer;
}

/** A line with one message, which is JSON. */
export const CHECKED = 0;
/** A line with one message. Nobody knows yet whether it is JSON. */
export const UNCHECKED = 1;
/** A line with a whole call. Its "message" is all that came from the client or the server. */
export const WHOLE = 2;
export type LineKind = typeof CHECKED | typeof UNCHECKED | typeof WHOLE;

/** Where the message of a line ends, and the line's kind, as one number of the table. */
export function packedEnd(end: number, kind: LineKind): number {
  return end * 4 + kind;
}

export function endOf(packed: number): number {
  return packed >>> 2;
}

export function kindOf(packed: number): LineKind {
  return (packed & 3) as LineKind;
}

export interface Batch {
  /** The number of its slot. */
  readonly slot: number;
  readonly lines: number;
  /** How many messages they hold. */
  readonly frames: number;
  /** The times of the first and the last line. */
  readonly from: number;
  readonly until: number;
}

export type ToThread =
  | { readonly kind: "secrets"; readonly secrets: readonly string[] }
  | { readonly kind: "slot"; readonly number: number; readonly slot: Slot | undefined }
  | { readonly kind: "batch"; readonly batch: Batch }
  /** Members of the index, as JSON without braces. `isLast`: nothing follows. */
  | { readonly kind: "about"; readonly about: string; readonly isLast: boolean };

export type FromThread =
  /** `total`: how many bytes the recording has now. */
  | {
      readonly kind: "done";
      readonly slot: number;
      readonly written: number;
      readonly lost: number;
      readonly total: number;
    }
  /** The disk begins to refuse lines, or takes them again (undefined). */
  | { readonly kind: "state"; readonly problem: string | undefined }
  /** It wants the members of the index. */
  | { readonly kind: "ask" }
  | { readonly kind: "closed" };
