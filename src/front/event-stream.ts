/**
 * Connects an outbox to an HTTP exchange as server-sent events, with one line of data for each
 * message. The stream tells the outbox when it has room and when it has closed.
 */

import { oneLine } from "../lib/json/json-text.ts";
import type { Outbox, Sink } from "../mcp/outbound/outbox.ts";
import { type HttpExchange, type RawStream, STREAM_HEADERS, type StreamEvents } from "./http/exchange.ts";
import type { RetryHint } from "./http/retry-hint.ts";

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The interval of keep-alive comments, which stop proxies from closing an idle connection. */
  readonly keepAliveMs?: number;
  /** Written before the first event. */
  readonly greeting?: string;
  /** The last event that the client says it received. */
  readonly lastEventId?: string | undefined;
  /** What its client is told before the gateway ends it. */
  readonly retryHint?: RetryHint | undefined;
  readonly closed?: () => void;
  /** Runs when everything was sent and the connection stayed open for a while afterwards. */
  readonly delivered?: () => void;
}

export function openEventStream(exchange: HttpExchange, outbox: Outbox, options: EventStreamOptions = {}): void {
  outbox.open(new EventStream(exchange, outbox, options), options.lastEventId);
}

/** One object between the outbox and the stream: a gateway may have thousands of open streams. */
class EventStream implements Sink, StreamEvents {
  readonly delivered: (() => void) | undefined;
  readonly #outbox: Outbox;
  readonly #stream: RawStream;
  readonly #retryHint: RetryHint | undefined;
  readonly #closed: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(exchange: HttpExchange, outbox: Outbox, options: EventStreamOptions) {
    const { headers, keepAliveMs, greeting } = options;
    this.#outbox = outbox;
    this.#retryHint = options.retryHint;
    this.#closed = options.closed;
    this.delivered = options.delivered;
    const stream = exchange.stream(headers ? { ...STREAM_HEADERS, ...headers } : STREAM_HEADERS, this);
    this.#stream = stream;
    if (keepAliveMs !== undefined) {
      this.#timer = setInterval(() => stream.isFull || stream.write(": keep-alive\n\n"), keepAliveMs).unref();
    }
    if (greeting !== undefined) stream.write(greeting);
  }

  get isFull(): boolean {
    return this.#stream.isFull;
  }

  write(text: string, id: string | undefined): void {
    const data = oneLine(text);
    this.#stream.write(
      id === undefined ? `event: message\ndata: ${data}\n\n` : `event: message\nid: ${id}\ndata: ${data}\n\n`,
    );
  }

  end(): void {
    const hint = this.#retryHint?.text;
    if (hint && !this.#stream.isFull) this.#stream.write(hint);
    this.#stream.end();
  }

  cut(): void {
    this.#stream.cut();
  }

  drained(): void {
    this.#outbox.drained();
  }

  closed(): void {
    clearInterval(this.#timer);
    this.#outbox.closed(this);
    this.#closed?.();
  }
}
