/**
 * Reads a text/event-stream: bytes in, events out. On the gateway's own line splitter and on bytes,
 * because an answer of many megabytes comes as one `data:` line in hundreds of chunks, and is then
 * passed on without being decoded.
 */
import { LineSplitter } from "../structures/lines.ts";

export interface StreamEvent {
  readonly event: string;
  readonly data: Buffer;
  readonly id: string | undefined;
}

export interface EventStreamOptions {
  readonly cap: number;
  readonly event: (event: StreamEvent) => void;
  readonly overflow: (head: string, tail: string) => void;
  readonly retry?: (ms: number) => void;
}

const COLON = 58;
const SPACE = 32;
const NEWLINE = Buffer.from("\n");

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #lines: LineSplitter;
  #event = "message";
  #data: Buffer[] = [];
  #size = 0;
  #id: string | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#lines = new LineSplitter({
      cap: options.cap,
      line: (line) => this.#line(line),
      overflow: (head, tail) => options.overflow(head.replace(/^data: ?/, ""), tail),
    });
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  #line(line: Buffer): void {
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return;
    const field = colon === -1 ? line.toString("latin1") : line.toString("latin1", 0, colon);
    const valueAt = colon === -1 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1);
    const value = line.subarray(valueAt);
    switch (field) {
      case "data":
        this.#size += value.length;
        if (this.#size <= this.#options.cap) this.#data.push(value);
        break;
      case "event":
        this.#event = value.toString("utf8");
        break;
      case "id":
        this.#id = idOf(value.toString("utf8"));
        break;
      case "retry":
        if (/^\d{1,9}$/.test(value.toString("latin1"))) this.#options.retry?.(Number(value.toString("latin1")));
        break;
    }
  }

  #dispatch(): void {
    if (this.#size > this.#options.cap) {
      this.#options.overflow(this.#data[0]?.toString("latin1", 0, 96) ?? "", "");
    } else if (this.#data.length > 0) {
      const data = this.#data.length === 1 ? this.#data[0]! : joinLines(this.#data);
      this.#options.event({ event: this.#event, data, id: this.#id });
    }
    this.#data = [];
    this.#size = 0;
    this.#event = "message";
  }
}

/** One that cannot be sent back in a header is none. */
function idOf(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is meant
  return /[\0-\x08\x0a-\x1f\x7f]/.test(text) ? undefined : text;
}

function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [NEWLINE, line])));
}
