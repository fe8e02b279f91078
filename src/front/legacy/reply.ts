/**
 * The reply to one POST of a session: JSON, or an event stream once there is a message besides the
 * answer.
 *
 * Streams carry event ids and are kept for a while after their end, so that a client can reconnect
 * and read the rest. All streams and answers of a session share one budget of unread bytes.
 */
import { Outbox } from "../../mcp/outbound/outbox.ts";
import type { UnreadBudget } from "../../mcp/outbound/unread-budget.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerText, failure, type Id } from "../../mcp/protocol/json-rpc.ts";
import { openEventStream } from "../event-stream.ts";
import { type HttpExchange, JSON_HEADERS, STREAM_HEADERS } from "../http/exchange.ts";
import { accepts, replyAnswer } from "../http/reply.ts";
import type { RetryHint } from "../http/retry-hint.ts";
import type { KeptStreams } from "./kept-streams.ts";

export const SESSION_HEADER = "mcp-session-id";
/** Smaller answers fit into the connection's buffers. */
const LARGE = 64 * 1024;

export interface Streams {
  /** What the client knows the session by. Empty until it is open. */
  id: string;
  /** Begins the names of all its streams. */
  readonly prefix: string;
  readonly standing: Outbox;
  /** The resumable streams of requests, by name. Made with the first: most sessions have none. */
  requests: Map<string, Outbox> | undefined;
  count: number;
  readonly budget: UnreadBudget;
  /** The streams of answered requests, of all sessions. */
  readonly kept: KeptStreams;
  readonly retryHint?: RetryHint | undefined;
}

export class PostReply {
  readonly #exchange: HttpExchange;
  readonly #streams: Streams;
  readonly #takesStream: boolean;
  #outbox: Outbox | undefined;
  /** Of its stream, once there is one. */
  #name = "";
  #answered = false;

  constructor(exchange: HttpExchange, streams: Streams) {
    this.#exchange = exchange;
    this.#streams = streams;
    this.#takesStream = accepts(exchange, "text/event-stream");
    if (this.#takesStream && !accepts(exchange, "application/json")) this.#open();
  }

  /**
   * Sends a message of this request. After the answer, its own stream has ended, so the standing
   * stream carries it.
   */
  emit(text: string): void {
    if (this.#takesStream && !this.#answered) (this.#outbox ?? this.#open()).push(text);
    else this.#streams.standing.push(text);
  }

  /** Sends the answer. Undefined: the client cancelled the request and gets no answer. */
  answer(id: Id, answer: Answer | undefined): void {
    const outbox = this.#outbox;
    this.#answered = true;
    if (answer && !outbox) this.#reply(id, answer);
    else if (answer) this.#finish(outbox!, [answerText(id, answer)]);
    else if (!outbox && this.#takesStream) this.#exchange.stream(STREAM_HEADERS, { drained() {}, closed() {} }).end();
    else if (!outbox) this.#exchange.reply(202, {});
    // A client would resume a stream with event ids that ended without an answer, again and again.
    else this.#finish(outbox, [answerText(id, failure(new GoblinError("CANCELLED", "Cancelled by the client")))]);
  }

  answers(texts: readonly string[]): void {
    this.#answered = true;
    if (this.#outbox) this.#finish(this.#outbox, texts);
    else if (texts.length === 0) this.#exchange.reply(202, {});
    else this.#exchange.reply(200, JSON_HEADERS, `[${texts.join(",")}]`);
  }

  #reply(id: Id, answer: Answer): void {
    const { length } = answer.raw;
    if (length <= LARGE) return replyAnswer(this.#exchange, id, answer);
    const { budget } = this.#streams;
    if (budget.isSpent) {
      budget.strike();
      return replyAnswer(this.#exchange, id, failure(budget.error));
    }
    this.#exchange.onDone(budget.hold(length));
    replyAnswer(this.#exchange, id, answer);
  }

  #open(): Outbox {
    const streams = this.#streams;
    this.#name = `${streams.prefix}r${++streams.count}`;
    const opened = new Outbox({ budget: streams.budget, name: this.#name });
    streams.requests ??= new Map();
    streams.requests.set(this.#name, opened);
    attach(this.#exchange, { outbox: opened, streams });
    this.#outbox = opened;
    return opened;
  }

  #finish(outbox: Outbox, texts: readonly string[]): void {
    for (const text of texts) outbox.push(text);
    outbox.finish();
    const { requests, kept } = this.#streams;
    kept.keep(outbox, () => void requests?.delete(this.#name));
  }
}

export interface Attachment {
  readonly outbox: Outbox;
  readonly streams: Streams;
  readonly lastEventId?: string | undefined;
}

/** Connects an outbox to this exchange, starting after the last event that the client received. */
export function attach(exchange: HttpExchange, { outbox, streams, lastEventId }: Attachment): void {
  const headers = { [SESSION_HEADER]: streams.id };
  if (outbox === streams.standing)
    openEventStream(exchange, outbox, { headers, lastEventId, retryHint: streams.retryHint });
  // The stream of a request ends with its answer: there is nothing to come back for.
  else openEventStream(exchange, outbox, { headers, lastEventId, delivered: () => streams.kept.drop(outbox) });
}
