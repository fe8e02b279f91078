/**
 * Parses a text/event-stream: bytes in, events out. It works on bytes and uses our own line
 * splitter. A response of many megabytes arrives as one `data:` line in hundreds of chunks and is
 * forwarded without decoding.
 *
 * The cap bounds the memory of an event, no matter how many lines it has. An empty `data:` line
 * counts too.
 */

import { LineSplitter } from "../structures/lines.ts";
import { Pieces } from "../structures/pieces.ts";

export interface StreamEvent {
  readonly event: string;
  readonly data: Buffer;
  readonly id: string | undefined;
}

export interface EventStreamOptions {
  /** How many bytes of data an event may have; without it, any number. */
  readonly cap?: number;
  readonly event: (event: StreamEvent) => void;
  readonly overflow?: (head: string, tail: string) => void;
  readonly retry?: (ms: number) => void;
  /** The stream has more than `MAX_IDLE_BYTES` that belong to no event. */
  readonly idles?: () => void;
}

/** For comments and for events without data, of one stream. A keep-alive is a few bytes. */
export const MAX_IDLE_BYTES = 4 * 1024 * 1024;
const COLON = 58;
const SPACE = 32;
const NEWLINE = Buffer.from("\n");
const EDGE = 96;
const LINE_BYTES = 8;
/** Longer event names are cut. An id must fit into a header; longer ones are ignored. */
const MAX_NAME = 256;
const MAX_ID = 4096;

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #cap: number;
  readonly #lines: LineSplitter;
  #event = "message";
  readonly #data = new Pieces();
  #hasData = false;
  /** The start of the current event, once it has exceeded the cap. */
  #dropped: string | undefined;
  #id: string | undefined;
  /** Bytes of comments and of events without data. */
  #idle = 0;
  /** Bytes of the current event besides its data. */
  #fields = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cap = options.cap ?? Number.POSITIVE_INFINITY;
    this.#lines = new LineSplitter({
      cap: this.#cap,
      line: (line) => this.#line(line),
      overflow: (head, tail) => options.overflow?.(head.replace(/^data: ?/, ""), tail),
    });
  }

  /** The bytes of the unfinished event. */
  get held(): number {
    return this.#lines.held + this.#data.size;
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }

  #line(line: Buffer): void {
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return this.#idled(line.length);
    const field = colon === -1 ? line.toString("latin1") : line.toString("latin1", 0, colon);
    const valueAt = colon === -1 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1);
    const value = line.subarray(valueAt);
    switch (field) {
      case "data":
        return this.#take(value);
      case "event":
        this.#event = value.toString("utf8", 0, MAX_NAME);
        break;
      case "id":
        this.#id = value.length > MAX_ID ? undefined : idOf(value.toString("utf8"));
        break;
      case "retry":
        if (/^\d{1,9}$/.test(value.toString("latin1"))) this.#options.retry?.(Number(value.toString("latin1")));
        break;
    }
    this.#fields += line.length;
    if (this.#fields > MAX_IDLE_BYTES) this.#idled(this.#fields);
  }

  /** A line takes as long as several bytes, however short it is. */
  #idled(bytes: number): void {
    this.#idle += bytes + LINE_BYTES;
    if (this.#idle <= MAX_IDLE_BYTES) return;
    this.#idle = 0;
    this.#options.idles?.();
  }

  #take(value: Buffer): void {
    if (this.#dropped !== undefined) return;
    if (this.#hasData) this.#data.add(NEWLINE);
    this.#hasData = true;
    this.#data.add(value);
    if (this.#data.size <= this.#cap) return;
    this.#dropped = this.#data.head(EDGE);
    this.#data.clear();
  }

  #dispatch(): void {
    if (this.#dropped !== undefined) this.#options.overflow?.(this.#dropped, "");
    else if (this.#hasData) this.#options.event({ event: this.#event, data: this.#data.take(), id: this.#id });
    else this.#idled(this.#fields);
    this.#fields = 0;
    this.#hasData = false;
    this.#dropped = undefined;
    this.#event = "message";
  }
}

/** Ignores an id that cannot be sent back in a header. */
function idOf(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is meant
  return /[\0-\x08\x0a-\x1f\x7f]/.test(text) ? undefined : text;
}
