/**
 * One HTTP request to a server and its answer.
 *
 * A JSON answer is one message; an event stream is one message an event, handed on as it arrives.
 * Errors of the connection and of the status are reported once, through `done`. Whoever makes many
 * requests of a kind uses one `ExchangeHandler` for all of them.
 */

import { Pieces } from "../structures/pieces.ts";
import type { RequestHandle, RequestHandler } from "./connection.ts";
import { EventStream } from "./event-stream.ts";
import type { ConnectionPool } from "./pool.ts";
import type { HttpHead } from "./request-head.ts";
import { type AnswerHead, headerIn } from "./response-parser.ts";

export interface ExchangeRequest {
  /** One that comes again is made once, by `headOf` of the connections. */
  readonly head: HttpHead | string;
  readonly body?: string;
  /** The request that this exchange is for, as its user knows it. */
  readonly id?: number | undefined;
  /** Whatever its user wants to have at hand as long as the exchange lasts. */
  readonly about?: unknown;
}

/** Is told what becomes of an exchange. */
export interface ExchangeHandler {
  /** The most bytes of one message. */
  readonly cap: number;
  started?(x: Exchange, headers: readonly string[]): void;
  message(x: Exchange, bytes: Buffer): void;
  /** An event other than `message`, as the 2024 transport has. */
  other?(event: string, data: Buffer): void;
  overflow(x: Exchange, head: string, tail: string): void;
  done(x: Exchange): void;
}

const ERROR_TEXT_CAP = 64 * 1024;
const MAX_RETRY_MS = 60_000;

export function exchange(connections: ConnectionPool, request: ExchangeRequest, user: ExchangeHandler): Exchange {
  const made = new Exchange(user, request.id, request.about);
  try {
    const head = typeof request.head === "string" ? request.head : connections.headOf(request.head);
    made.begin(connections.send(head, request.body, made));
  } catch (error) {
    process.nextTick(() => made.failed(error as Error, false));
  }
  return made;
}

export class Exchange implements RequestHandler {
  readonly id: number | undefined;
  readonly about: unknown;
  /** Undefined while, or because, there is no answer. */
  status: number | undefined;
  contentType = "";
  retryAfter: string | undefined;
  error: Error | undefined;
  /** There was no connection to send the request on. */
  unreachable = false;
  /** The start of a body that is no message. */
  text = "";
  lastEventId: string | undefined;
  /** The bytes of the body that have come. */
  received = 0;
  /** How long the server wants to be left alone after the end of its stream, if it says so. */
  retryMs: number | undefined;
  readonly #user: ExchangeHandler;
  #posted: RequestHandle | undefined;
  #stream: EventStream | undefined;
  /** A body whose length is known, and how much of it is there; or its pieces. */
  #body: Buffer | undefined;
  #pieces: Pieces | undefined;
  #size = 0;

  constructor(user: ExchangeHandler, id: number | undefined, about: unknown) {
    this.#user = user;
    this.id = id;
    this.about = about;
  }

  get wasStream(): boolean {
    return this.#stream !== undefined;
  }

  begin(posted: RequestHandle): void {
    this.#posted = posted;
  }

  abort(why = "not wanted any more"): void {
    this.#posted?.abort(new Error(why));
  }

  head({ status, headers, length }: AnswerHead): void {
    this.status = status;
    this.contentType = headerIn(headers, "content-type") ?? "";
    if (!this.#isSuccess) this.retryAfter = headerIn(headers, "retry-after");
    else if (this.contentType.startsWith("text/event-stream")) this.#stream = this.#openStream();
    else if (length !== undefined && length <= this.#user.cap) this.#body = Buffer.allocUnsafe(length);
    this.#user.started?.(this, headers);
  }

  body(lent: Buffer): void {
    this.received += lent.length;
    if (this.#stream) this.#stream.push(Buffer.from(lent));
    else this.#keep(lent);
  }

  complete(): void {
    // The connection may be another request's by now.
    this.#posted = undefined;
    const body = this.#body ?? this.#pieces?.take();
    this.#body = undefined;
    this.#pieces = undefined;
    try {
      if (body && body.length > 0) this.#take(body);
    } catch (error) {
      this.error = error as Error;
    }
    this.#user.done(this);
  }

  failed(error: Error, unreachable: boolean): void {
    this.#posted = undefined;
    this.error = error;
    this.unreachable = unreachable;
    this.#user.done(this);
  }

  get #isSuccess(): boolean {
    return this.status !== undefined && this.status < 300;
  }

  #take(body: Buffer): void {
    if (this.#isSuccess && this.contentType.startsWith("application/json")) this.#user.message(this, body);
    else this.text = body.toString("utf8");
  }

  #keep(lent: Buffer): void {
    const before = this.#size;
    this.#size += lent.length;
    if (this.#body) lent.copy(this.#body, before);
    else if (this.#size <= (this.#isSuccess ? this.#user.cap : ERROR_TEXT_CAP)) {
      this.#pieces ??= new Pieces();
      this.#pieces.addCopy(lent);
    } else if (this.#isSuccess) {
      this.#user.overflow(this, this.#pieces?.head(96) ?? "", "");
      this.abort("the answer is too large");
    }
  }

  #openStream(): EventStream {
    const user = this.#user;
    return new EventStream({
      cap: user.cap,
      event: ({ event, data, id }) => {
        if (id) this.lastEventId = id;
        if (event === "message") {
          if (data.length > 0) user.message(this, data);
        } else user.other?.(event, data);
      },
      overflow: (head, tail) => user.overflow(this, head, tail),
      retry: (ms) => {
        this.retryMs = Math.min(ms, MAX_RETRY_MS);
      },
    });
  }
}
