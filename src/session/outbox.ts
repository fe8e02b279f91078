/**
 * What is sent to a client outside of answers, over a stream that may break and come back.
 *
 * Every event gets a number. Events are kept, up to a bound, until they are surely too old to be asked for; while no stream is open, or after
 * one broke, they wait, and a stream that is opened anew gets those after the last one that the client has seen. Notifications that
 * say the same thing wait once. What overflows is the oldest; a client that never reads costs a bounded amount of memory.
 */
export interface EventSink {
  /** False: the client reads too slowly and the event was not taken. */
  write(id: string, data: string): boolean;
  end(): void;
}

interface Waiting {
  readonly id: number;
  readonly text: string;
}

const REPEATABLE = /^\{"jsonrpc":"2\.0","method":"notifications\/(resources\/updated|\w+\/list_changed)"/;
const MAX_EVENTS = 1024;
const MAX_BYTES = 4 * 1024 * 1024;

export class Outbox {
  readonly #prefix: string;
  #events: Waiting[] = [];
  #bytes = 0;
  #count = 0;
  /** The number of the last event that was written to a stream. */
  #written = 0;
  #sink: EventSink | undefined;
  #lost = 0;
  #finishing = false;

  /** `prefix` tells the streams of one session apart in their event ids. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined;
  }

  /** How many events were given up because the client did not take them. */
  get lost(): number {
    return this.#lost;
  }

  push(text: string): void {
    this.#dropSame(text);
    const event = { id: ++this.#count, text };
    this.#events.push(event);
    this.#bytes += text.length;
    this.#trim();
    this.#flush();
  }

  /** Connects a stream; one that was there before is ended. `lastEventId` is what the client says it saw last. */
  open(sink: EventSink, lastEventId: string | undefined): void {
    const before = this.#sink;
    this.#sink = sink;
    before?.end();
    const seen = lastEventId === undefined ? undefined : this.#numberOf(lastEventId);
    if (seen !== undefined && seen < this.#written) this.#written = seen;
    this.#flush();
  }

  /** The stream broke; only the one that is connected counts. */
  closed(sink: EventSink): void {
    if (this.#sink === sink) this.#sink = undefined;
  }

  /** The stream has room again. */
  drained(): void {
    this.#flush();
  }

  /** Ends the stream once everything has been written to it. */
  finish(): void {
    this.#finishing = true;
    this.#flush();
  }

  end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#events = [];
    this.#bytes = 0;
    sink?.end();
  }

  #flush(): void {
    if (!this.#sink) return;
    for (const { id, text } of this.#events) {
      if (id <= this.#written) continue;
      if (!this.#sink.write(`${this.#prefix}-${id}`, text)) return;
      this.#written = id;
    }
    if (this.#finishing) this.#sink.end();
  }

  /** While nobody listens, a second "the list has changed" says nothing new. Only what was not yet written may go. */
  #dropSame(text: string): void {
    if (this.#events.length === 0 || !REPEATABLE.test(text)) return;
    const at = this.#events.findIndex((event) => event.id > this.#written && event.text === text);
    if (at === -1) return;
    this.#bytes -= text.length;
    this.#events.splice(at, 1);
  }

  #trim(): void {
    while (this.#events.length > MAX_EVENTS || (this.#bytes > MAX_BYTES && this.#events.length > 1)) {
      const oldest = this.#events.shift()!;
      this.#bytes -= oldest.text.length;
      if (oldest.id > this.#written) this.#lost++;
    }
  }

  #numberOf(eventId: string): number | undefined {
    const [prefix, number] = splitLast(eventId);
    return prefix === this.#prefix && /^\d{1,15}$/.test(number) ? Number(number) : undefined;
  }
}

function splitLast(text: string): [string, string] {
  const at = text.lastIndexOf("-");
  return [text.slice(0, at), text.slice(at + 1)];
}
