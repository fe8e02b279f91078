/**
 * Lets an outbox speak on an exchange, as server-sent events. Whoever opens one gets its messages
 * one line each; the stream tells the outbox when it has room and when it is over.
 */
import type { Outbox, Sink } from "../outbound/outbox.ts";
import { oneLine } from "../protocol/json-text.ts";
import { type HttpExchange, type RawStream, STREAM_HEADERS } from "./http/exchange.ts";

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** How often something is said so that nobody between takes the connection for dead. */
  readonly keepAliveMs?: number;
  /** Written before all events. */
  readonly greeting?: string;
  /** What the client says it saw last. */
  readonly lastEventId?: string | undefined;
  readonly closed?: () => void;
  /** Everything was sent, and the connection held for a while after. */
  readonly delivered?: () => void;
}

export function openEventStream(x: HttpExchange, outbox: Outbox, options: EventStreamOptions = {}): void {
  const { headers, keepAliveMs, greeting, lastEventId, delivered } = options;
  let timer: NodeJS.Timeout | undefined;
  const stream = x.stream(headers ? { ...STREAM_HEADERS, ...headers } : STREAM_HEADERS, {
    drained: () => outbox.drained(),
    closed: () => {
      clearInterval(timer);
      outbox.closed(sink);
      options.closed?.();
    },
    ...(delivered && { delivered }),
  });
  const sink = eventSink(stream);
  if (keepAliveMs !== undefined) {
    timer = setInterval(() => stream.isFull || stream.write(": keep-alive\n\n"), keepAliveMs).unref();
  }
  if (greeting !== undefined) stream.write(greeting);
  outbox.open(sink, lastEventId);
}

function eventSink(stream: RawStream): Sink {
  return {
    get isFull() {
      return stream.isFull;
    },
    write(text, id) {
      const data = oneLine(text);
      stream.write(
        id === undefined ? `event: message\ndata: ${data}\n\n` : `event: message\nid: ${id}\ndata: ${data}\n\n`,
      );
    },
    end: () => stream.end(),
    cut: () => stream.cut(),
  };
}
