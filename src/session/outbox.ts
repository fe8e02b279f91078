/**
 * What is sent to a client outside of answers, over a stream that may break and come back.
 *
 * Every event gets a number. Events are kept, up to a bound, until they are surely too old to be
 * asked for; while no stream is open, or after one broke, they wait, and a stream that is opened
 * anew gets those after the last one that the client has seen. Notifications that say the same
 * thing wait once. While nobody listens, the oldest notifications are given up first. A client that
 * listens but does not read gets nothing left out in silence: when too much waits for it, its
 * stream is cut. Either way it costs a bounded amount of memory.
 */
import type { OnLimit } from "../protocol/limit-exceeded.ts";

export interface EventSink {
  /** False: the client reads too slowly and the event was not taken. */
  write(id: string, data: string): boolean;
  end(): void;
  /** Breaks the stream off without waiting for the client to read what was written. */
  cut(): void;
}

interface Waiting {
  readonly id: number;
  readonly text: string;
}

const REPEATABLE = /^\{"jsonrpc":"2\.0","method":"notifications\/(resources\/updated|\w+\/list_changed)"/;
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":/;
const MAX_EVENTS = 1024;
const MAX_BYTES = 4 * 1024 * 1024;
/**
 * Answers are large, and a slow reader is not yet a dead one: this many may wait, and
 * `limits.unreadBytes`.
 */
const MAX_WAITING_EVENTS = 4096;

/**
 * How much may wait for a client that listens, as the config says now, and whom to tell when it is
 * more.
 */
export interface UnreadLimit {
  readonly config: { readonly current: { readonly limits: { readonly unreadBytes: number } } };
  readonly onLimit: OnLimit;
}

export class Outbox {
  readonly #prefix: string;
  readonly #unread: UnreadLimit;
  #events: Waiting[] = [];
  #bytes = 0;
  /** Of these, what was not yet written. */
  #waitingBytes = 0;
  #count = 0;
  /** The number of the last event that was written to a stream. */
  #written = 0;
  #sink: EventSink | undefined;
  #lost = 0;
  #finishing = false;

  /** `prefix` tells the streams of one session apart in their event ids. */
  constructor(prefix: string, unread: UnreadLimit) {
    this.#prefix = prefix;
    this.#unread = unread;
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
    this.#waitingBytes += text.length;
    this.#flush();
    if (this.#sink && this.#waitingBytes > 0 && this.#overflows) this.#cut();
    this.#trim();
  }

  /**
   * Connects a stream; one that was there before is ended. `lastEventId` is what the client says it
   * saw last.
   */
  open(sink: EventSink, lastEventId: string | undefined): void {
    const before = this.#sink;
    this.#sink = sink;
    before?.end();
    const seen = lastEventId === undefined ? undefined : this.#numberOf(lastEventId);
    if (seen !== undefined && seen < this.#written) this.#rewind(seen);
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
    this.#waitingBytes = 0;
    sink?.end();
  }

  #flush(): void {
    if (!this.#sink) return;
    for (const { id, text } of this.#events) {
      if (id <= this.#written) continue;
      if (!this.#sink.write(`${this.#prefix}-${id}`, text)) return;
      this.#written = id;
      this.#waitingBytes -= text.length;
    }
    if (this.#finishing) this.#sink.end();
  }

  /**
   * While nobody listens, a second "the list has changed" says nothing new. Only what was not yet
   * written may go.
   */
  #dropSame(text: string): void {
    if (this.#events.length === 0 || !REPEATABLE.test(text)) return;
    const at = this.#events.findIndex((event) => event.id > this.#written && event.text === text);
    if (at === -1) return;
    this.#bytes -= text.length;
    this.#waitingBytes -= text.length;
    this.#events.splice(at, 1);
  }

  get #overflows(): boolean {
    return (
      this.#waitingBytes > this.#unread.config.current.limits.unreadBytes ||
      this.#count - this.#written > MAX_WAITING_EVENTS
    );
  }

  #cut(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#unread.onLimit("unreadBytes");
    sink?.cut();
  }

  /** What was written may not have arrived. */
  #rewind(seen: number): void {
    for (const { id, text } of this.#events) if (id > seen && id <= this.#written) this.#waitingBytes += text.length;
    this.#written = seen;
  }

  #trim(): void {
    while (this.#events.length > MAX_EVENTS || (this.#bytes > MAX_BYTES && this.#events.length > 1)) {
      const at = this.#oldestToGo();
      if (at === -1) return;
      const [oldest] = this.#events.splice(at, 1) as [Waiting];
      this.#bytes -= oldest.text.length;
      if (oldest.id <= this.#written) continue;
      this.#waitingBytes -= oldest.text.length;
      this.#lost++;
    }
  }

  /**
   * What was written is only kept for a stream that breaks; what was not is kept for whoever
   * listens, and answers for as long as possible.
   */
  #oldestToGo(): number {
    if (this.#events[0]!.id <= this.#written) return 0;
    if (this.#sink) return -1;
    return this.#overflows ? 0 : this.#events.findIndex(({ text }) => NOTIFICATION.test(text));
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
