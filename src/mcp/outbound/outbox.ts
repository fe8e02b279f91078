/**
 * The outbound queue of one stream to a client: of a session, of one request, on stdout, or of the
 * API's events.
 *
 * An empty queue costs nothing: a message goes straight to the stream. Messages keep their order,
 * and identical notifications wait only once. Nothing is dropped silently while a client is
 * connected: if too much waits for it, its stream is cut.
 *
 * A named queue can resume after its stream broke. Its events carry ids, and written events are
 * kept up to a bound. While no stream is connected, the oldest notifications are dropped first. A
 * queue without a name keeps no written events, and keeps nothing once its stream has closed. Its
 * memory is bounded in both cases.
 */
import type { UnreadBudget } from "./unread-budget.ts";

export interface Sink {
  /** Whether the stream accepts no data now; `drained` reports when it has room again. */
  readonly isFull: boolean;
  /** Must be called only while `isFull` is false. `id` is undefined if events have no ids. */
  write(text: string, id: string | undefined): void;
  end(): void;
  /** Closes the stream without waiting for the client to read the rest. */
  cut(): void;
}

export interface OutboxOptions {
  /** The budget that all queues of one client share. */
  readonly budget: UnreadBudget;
  /** The prefix of the event ids, which tells the streams of one session apart. */
  readonly name?: string;
}

interface Event {
  readonly id: number;
  readonly text: string;
}

const REPEATABLE = /^\{"jsonrpc":"2\.0","method":"notifications\/(resources\/updated|\w+\/list_changed)"/;
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":/;
const MAX_EVENTS = 1024;
const MAX_BYTES = 4 * 1024 * 1024;
/** The most events that may wait. It is generous: a slow reader is not yet a dead one. */
const MAX_WAITING_EVENTS = 4096;
/** Smaller messages are sent as long as the stream accepts them, regardless of the budget. */
const LARGE = 64 * 1024;

export class Outbox {
  readonly #name: string | undefined;
  readonly #budget: UnreadBudget;
  /** Written events that a client may ask for again. */
  #history: Event[] = [];
  #waiting: Event[] = [];
  #historyBytes = 0;
  #waitingBytes = 0;
  /** The bytes that the stream accepted when it became full. */
  #stuckBytes = 0;
  /** The numbers last reported to the budget. */
  #unread = 0;
  #kept = 0;
  #count = 0;
  #sink: Sink | undefined;
  #lost = 0;
  #finishing = false;

  constructor({ budget, name }: OutboxOptions) {
    this.#budget = budget;
    this.#name = name;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined;
  }

  /** Whether an open stream has not yet accepted everything. */
  get isWriting(): boolean {
    return this.#sink !== undefined && this.#waiting.length > 0;
  }

  get bytes(): number {
    return this.#historyBytes + this.#waitingBytes;
  }

  /** The number of events dropped because the client did not read them. */
  get lost(): number {
    return this.#lost;
  }

  push(text: string): void {
    const sink = this.#sink;
    const isOver = sink !== undefined && (sink.isFull || text.length > LARGE) && this.#budget.isSpent;
    if (this.#name === undefined) {
      if (!sink) return;
      if (this.#waiting.length === 0 && !isOver && !sink.isFull) return this.#give(sink, text, undefined);
    }
    this.#dropSame(text);
    this.#waiting.push({ id: ++this.#count, text });
    this.#waitingBytes += text.length;
    if (isOver) this.#cut();
    else this.#flush();
    if (this.#sink && this.#waiting.length > MAX_WAITING_EVENTS) this.#cut();
    this.#settle();
  }

  /**
   * Connects a stream and ends the previous one. `lastEventId` is the last event that the client
   * says it received.
   */
  open(sink: Sink, lastEventId?: string): void {
    const before = this.#sink;
    this.#sink = sink;
    this.#stuckBytes = 0;
    before?.end();
    const seen = lastEventId === undefined ? undefined : this.#numberOf(lastEventId);
    if (seen !== undefined) this.#rewind(seen);
    this.#flush();
    this.#settle();
  }

  /** Handles a closed stream. Ignored unless it is the connected one. */
  closed(sink: Sink): void {
    if (this.#sink === sink) this.#release();
  }

  /** Continues writing: the stream has room again. */
  drained(): void {
    this.#stuckBytes = 0;
    this.#flush();
    this.#settle();
  }

  /** Ends the stream once everything has been written to it. */
  finish(): void {
    this.#finishing = true;
    this.#flush();
    this.#settle();
  }

  /** Ends the stream and forgets everything. */
  end(): void {
    const sink = this.#sink;
    this.#clear();
    this.#release();
    sink?.end();
  }

  /** Cuts the stream. A named queue keeps its events so that the client can resume. */
  cut(): void {
    const sink = this.#sink;
    this.#release();
    sink?.cut();
  }

  #cut(): void {
    this.#budget.strike();
    this.cut();
  }

  #release(): void {
    this.#sink = undefined;
    this.#stuckBytes = 0;
    if (this.#name === undefined) this.#clear();
    this.#settle();
  }

  #clear(): void {
    this.#history = [];
    this.#waiting = [];
    this.#historyBytes = 0;
    this.#waitingBytes = 0;
  }

  #flush(): void {
    const sink = this.#sink;
    if (!sink) return;
    // A stream may call `drained` during a write.
    while (this.#waiting.length > 0 && !sink.isFull && this.#sink === sink) {
      const event = this.#waiting.shift()!;
      this.#waitingBytes -= event.text.length;
      if (this.#name === undefined) this.#give(sink, event.text, undefined);
      else {
        this.#history.push(event);
        this.#historyBytes += event.text.length;
        this.#give(sink, event.text, `${this.#name}-${event.id}`);
      }
    }
    if (this.#finishing && this.#waiting.length === 0) sink.end();
  }

  #give(sink: Sink, text: string, id: string | undefined): void {
    sink.write(text, id);
    if (!sink.isFull) return;
    this.#stuckBytes += text.length;
    this.#report();
  }

  /**
   * Drops a waiting notification that the new one repeats. Only events that were not written may be
   * dropped.
   */
  #dropSame(text: string): void {
    if (this.#waiting.length === 0 || !REPEATABLE.test(text)) return;
    const at = this.#waiting.findIndex((event) => event.text === text);
    if (at === -1) return;
    this.#waitingBytes -= text.length;
    this.#waiting.splice(at, 1);
  }

  /** Queues the written events after `seen` again: they may not have arrived. */
  #rewind(seen: number): void {
    const at = this.#history.findIndex(({ id }) => id > seen);
    if (at === -1) return;
    const again = this.#history.splice(at);
    this.#waiting.unshift(...again);
    for (const { text } of again) {
      this.#historyBytes -= text.length;
      this.#waitingBytes += text.length;
    }
  }

  /** Reports to the budget, then drops events beyond the limits. */
  #settle(): void {
    this.#report();
    while (this.#isTooMuch) {
      const isHistory = this.#history.length > 0;
      const at = isHistory ? 0 : this.#oldestToGo();
      if (at === -1) return;
      const [oldest] = (isHistory ? this.#history : this.#waiting).splice(at, 1) as [Event];
      if (isHistory) this.#historyBytes -= oldest.text.length;
      else {
        this.#waitingBytes -= oldest.text.length;
        this.#lost++;
      }
      this.#report();
    }
  }

  get #isTooMuch(): boolean {
    const events = this.#history.length + this.#waiting.length;
    return events > MAX_EVENTS || (events > 1 && (this.bytes > MAX_BYTES || this.#budget.isFull));
  }

  /**
   * Picks the event to drop. Events for an open stream are never dropped, and answers are kept as
   * long as possible.
   */
  #oldestToGo(): number {
    if (this.#sink) return -1;
    if (this.#budget.isFull || this.#waiting.length > MAX_WAITING_EVENTS) return 0;
    return this.#waiting.findIndex(({ text }) => NOTIFICATION.test(text));
  }

  #report(): void {
    const unread = this.#sink ? this.#waitingBytes + this.#stuckBytes : 0;
    const kept = this.#sink ? this.#historyBytes : this.bytes;
    this.#budget.change(unread - this.#unread, kept - this.#kept);
    this.#unread = unread;
    this.#kept = kept;
  }

  #numberOf(eventId: string): number | undefined {
    const at = eventId.lastIndexOf("-");
    const number = eventId.slice(at + 1);
    return eventId.slice(0, at) === this.#name && /^\d{1,15}$/.test(number) ? Number(number) : undefined;
  }
}
