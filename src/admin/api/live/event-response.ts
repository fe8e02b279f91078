/**
 * A response of server-sent events that belongs to one caller.
 *
 * Invariant: `closed` runs exactly once, whichever side ends it. Events that the caller may miss
 * are dropped while it does not read.
 */
const STREAM_BYTES = 1024 * 1024;
const KEEP_ALIVE_MS = 5000;

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export class EventResponse {
  readonly response: Response;
  readonly #encoder = new TextEncoder();
  readonly #closed: () => void;
  readonly #timer: NodeJS.Timeout;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(closed: () => void) {
    this.#closed = closed;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: STREAM_BYTES, size: (chunk) => chunk.byteLength },
    );
    // The caller takes a silent stream for a dead one.
    this.#timer = setInterval(() => this.#write(": still here\n\n"), KEEP_ALIVE_MS).unref();
    this.response = new Response(stream, { headers });
  }

  /** Sends an event; `data` is raw JSON. */
  send(type: string, data: string, { mayDrop = false } = {}): void {
    if (mayDrop && (this.#controller?.desiredSize ?? 0) <= 0) return;
    // JSON may have line breaks between its values.
    this.#write(`event: ${type}\ndata: ${data.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`);
  }

  end(): void {
    const controller = this.#controller;
    this.#end();
    controller?.close();
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #end(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    clearInterval(this.#timer);
    this.#closed();
  }
}
