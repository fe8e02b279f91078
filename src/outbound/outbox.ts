/**
 * The queue of everything that is sent to a client on a stream: of a session, of one request, on
 * stdout, and of the API's events.
 *
 * A queue that is empty costs nothing: a message goes straight to the stream. Messages keep their
 * order, and notifications that say the same thing wait once. A client that listens but does not
 * read gets nothing left out in silence: when too much waits for it, its stream is cut.
 *
 * A queue with a name can be taken up again after its stream broke. Its events carry ids, what was
 * written is kept up to a bound, and while nobody listens the oldest notifications are given up
 * first. A queue without a name keeps nothing that was written, and nothing once its stream is
 * closed. Either way it costs a bounded amount of memory.
 */
import type { UnreadBudget } from "./unread-budget.ts";

export interface Sink {
  /** It takes nothing for now, or no more; `drained` says when it does again. */
  readonly isFull: boolean;
  /** May be called while it is not full. `id` is undefined where events have none. */
  write(text: string, id: string | undefined): void;
  end(): void;
  /** Breaks the stream off without waiting for the client to read what was written. */
  cut(): void;
}

export interface OutboxOptions {
  /** Shared by all queues of one client. */
  readonly budget: UnreadBudget;
  /** Begins the ids of the events, and tells the streams of one session apart. */
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
/** Answers are large, and a slow reader is not yet a dead one: this many may wait. */
const MAX_WAITING_EVENTS = 4096;
/** Smaller messages are let through as long as the stream takes them, whatever else is unread. */
const LARGE = 64 * 1024;

export class Outbox {
  readonly #name: string | undefined;
  readonly #budget: UnreadBudget;
  /** What was written, and may have to be again. */
  #history: Event[] = [];
  #waiting: Event[] = [];
  #historyBytes = 0;
  #waitingBytes = 0;
  /** What the stream took when it became full. */
  #stuckBytes = 0;
  /** What the budget was told. */
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

  /** An open stream has not yet taken everything. */
  get isWriting(): boolean {
    return this.#sink !== undefined && this.#waiting.length > 0;
  }

  get bytes(): number {
    return this.#historyBytes + this.#waitingBytes;
  }

  /** How many events were given up because the client did not take them. */
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
   * Connects a stream; one that was there before is ended. `lastEventId` is what the client says it
   * saw last.
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

  /** The stream broke; only the one that is connected counts. */
  closed(sink: Sink): void {
    if (this.#sink === sink) this.#release();
  }

  /** The stream has room again. */
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

  /** Breaks the stream off; what waits is kept where it can be taken up again. */
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
    // A stream may say that it was drained while it is written to.
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
   * While nobody listens, a second "the list has changed" says nothing new. Only what was not yet
   * written may go.
   */
  #dropSame(text: string): void {
    if (this.#waiting.length === 0 || !REPEATABLE.test(text)) return;
    const at = this.#waiting.findIndex((event) => event.text === text);
    if (at === -1) return;
    this.#waitingBytes -= text.length;
    this.#waiting.splice(at, 1);
  }

  /** What was written may not have arrived. */
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

  /** Tells the budget what there is, and gives up what is too much. */
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

  /** Nothing goes that an open stream is about to get, and answers stay for as long as possible. */
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
