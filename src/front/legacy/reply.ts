/**
 * The answer to one POST of a session: JSON, or an event stream from the first message that is not
 * the answer.
 *
 * Streams carry event ids and are kept for a while after their end, so that a client which broke
 * off can come back for the rest.
 */
import { GoblinError } from "../../protocol/errors.ts";
import { type Answer, answerText, failure, type Id } from "../../protocol/json-rpc.ts";
import { oneLine } from "../../protocol/json-text.ts";
import { Outbox, type UnreadLimit } from "../../session/outbox.ts";
import { eventSink, type HttpExchange, JSON_HEADERS, STREAM_HEADERS } from "../http/exchange.ts";
import { accepts, replyAnswer } from "../http/reply.ts";

export const SESSION_HEADER = "mcp-session-id";
/** Answered streams whose client broke off are kept for this long. */
const RESUME_MS = 60_000;

export interface Streams {
  /** What the client knows the session by. */
  id: string;
  /** Begins the names of all its streams. */
  readonly prefix: string;
  readonly standing: Outbox;
  /** Streams of requests that the client may take up again, by number. */
  readonly requests: Map<string, Outbox>;
  count: number;
  readonly unread: UnreadLimit;
}

export class PostReply {
  readonly #x: HttpExchange;
  readonly #streams: Streams;
  readonly #takesStream: boolean;
  #outbox: Outbox | undefined;
  #answered = false;

  constructor(x: HttpExchange, streams: Streams) {
    this.#x = x;
    this.#streams = streams;
    this.#takesStream = accepts(x, "text/event-stream");
    if (this.#takesStream && !accepts(x, "application/json")) this.#open();
  }

  /** What is said after the answer has no stream of its own any more. */
  emit(text: string): void {
    if (this.#takesStream && !this.#answered) (this.#outbox ?? this.#open()).push(oneLine(text));
    else this.#streams.standing.push(oneLine(text));
  }

  /** Undefined: the client cancelled the request and wants no answer. */
  answer(id: Id, answer: Answer | undefined): void {
    const outbox = this.#outbox;
    this.#answered = true;
    if (answer && !outbox) replyAnswer(this.#x, id, answer);
    else if (answer) this.#finish(outbox!, [answerText(id, answer)]);
    else if (!outbox && this.#takesStream) this.#x.stream(STREAM_HEADERS, { drained() {}, closed() {} }).end();
    else if (!outbox) this.#x.reply(202, {});
    // A stream with numbered events that ended without an answer would be taken up again and again.
    else this.#finish(outbox, [answerText(id, failure(new GoblinError("CANCELLED", "Cancelled by the client")))]);
  }

  answers(texts: readonly string[]): void {
    this.#answered = true;
    if (this.#outbox) this.#finish(this.#outbox, texts);
    else if (texts.length === 0) this.#x.reply(202, {});
    else this.#x.reply(200, JSON_HEADERS, `[${texts.join(",")}]`);
  }

  #open(): Outbox {
    const streams = this.#streams;
    const name = `${streams.prefix}r${++streams.count}`;
    const opened = new Outbox(name, streams.unread);
    streams.requests.set(name, opened);
    attach(this.#x, opened, undefined, streams.id);
    this.#outbox = opened;
    return opened;
  }

  #finish(stream: Outbox, texts: readonly string[]): void {
    for (const text of texts) stream.push(oneLine(text));
    stream.finish();
    const { requests } = this.#streams;
    setTimeout(() => {
      for (const [name, kept] of requests) if (kept === stream) requests.delete(name);
    }, RESUME_MS).unref();
  }
}

/**
 * Lets an outbox speak on this exchange, from the event after the last that the client has seen.
 */
export function attach(x: HttpExchange, outbox: Outbox, lastEventId: string | undefined, sessionId: string): void {
  const stream = x.stream(
    { ...STREAM_HEADERS, [SESSION_HEADER]: sessionId },
    { drained: () => outbox.drained(), closed: () => outbox.closed(sink) },
  );
  const sink = eventSink(stream, { withIds: true, event: "message" });
  outbox.open(sink, lastEventId);
}
