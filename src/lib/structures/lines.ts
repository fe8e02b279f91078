/**
 * Splits a byte stream into lines, without decoding, and without copying a line that arrives in one
 * chunk.
 *
 * Invariant: memory is bounded by the cap. A line over the cap is dropped, and its first and last
 * bytes are reported to identify its request.
 *
 * Used for stdio on both sides and for event streams. Node's readline does not fit: it also ends a
 * line at U+2028, which JSON allows in strings.
 */
import type { Readable } from "node:stream";
import { Pieces } from "./pieces.ts";

const NEWLINE = 10;
const RETURN = 13;
const EDGE = 96;
const EMPTY = Buffer.alloc(0);

export interface LineOptions {
  readonly cap: number;
  readonly line: (line: Buffer) => void;
  readonly overflow: (head: string, tail: string) => void;
}

export class LineSplitter {
  readonly #options: LineOptions;
  readonly #parts = new Pieces();
  #overflow: { head: string; tail: string } | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** The bytes of the unfinished line. */
  get held(): number {
    return this.#parts.size;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(NEWLINE, from);
      if (at === -1) break;
      this.#end(chunk.subarray(from, at));
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  /** The stream has ended: what is left is a line too. */
  end(): void {
    if (this.#parts.size > 0 || this.#overflow) this.#end(EMPTY);
  }

  #end(last: Buffer): void {
    if (this.#overflow) {
      const { head, tail } = this.#overflow;
      this.#overflow = undefined;
      this.#options.overflow(head, (tail + last.toString("latin1", Math.max(0, last.length - EDGE))).slice(-EDGE));
      return;
    }
    if (this.#parts.size + last.length > this.#options.cap) {
      this.#keep(last);
      return this.#end(EMPTY);
    }
    let line = last;
    if (this.#parts.size > 0) {
      this.#parts.add(last);
      line = this.#parts.take();
    }
    if (line.length > 0 && line[line.length - 1] === RETURN) line = line.subarray(0, -1);
    this.#options.line(line);
  }

  #keep(rest: Buffer): void {
    if (this.#overflow) {
      this.#overflow.tail = (this.#overflow.tail + rest.toString("latin1", Math.max(0, rest.length - EDGE))).slice(
        -EDGE,
      );
      return;
    }
    this.#parts.add(rest);
    if (this.#parts.size <= this.#options.cap) return;
    const head = this.#parts.head(EDGE);
    this.#parts.clear();
    this.#overflow = { head, tail: rest.toString("latin1", Math.max(0, rest.length - EDGE)) };
  }
}

const ID_FIRST = /^\s*\[?\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,/;
const ID_LAST = /"id"\s*:\s*(\d{1,15})\s*\}\s*$/;
/** Requires the version next to the id: in a broken line, a bare id could be part of a result. */
const ENVELOPE_LAST = /.*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}/s;

/** Returns the request id of a dropped answer, if its edges show one. */
export function idAtEdges(head: string, tail: string): number | undefined {
  const found = ID_FIRST.exec(head) ?? ID_LAST.exec(tail);
  return found ? Number(found[1]) : undefined;
}

/**
 * Returns the request ids at the edges of the bytes. They may be the start of one answer and the
 * end of another.
 */
export function idsAtEdges(bytes: Buffer): number[] {
  const head = ID_FIRST.exec(bytes.toString("latin1", 0, EDGE));
  const tail = ENVELOPE_LAST.exec(bytes.toString("latin1", Math.max(0, bytes.length - EDGE)));
  return [head, tail].flatMap((found) => (found ? [Number(found[1])] : []));
}

/** Reads the lines of a stream whose writer is trusted with their length, then calls `ended`. */
export function eachLine(input: Readable, line: (text: string) => void, ended: () => void): void {
  const lines = new LineSplitter({
    cap: Number.POSITIVE_INFINITY,
    line: (bytes) => line(bytes.toString("utf8")),
    overflow: () => {},
  });
  input.on("data", (chunk: Buffer) => lines.push(chunk));
  input.once("end", () => {
    lines.end();
    ended();
  });
}
