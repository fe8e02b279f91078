/**
 * One HTTP request to a server and its response.
 *
 * A JSON response is one message. In an event stream, each event is one message and is delivered as
 * it arrives. Connection errors and HTTP errors are reported once, through `done`. Requests of one
 * kind can share one `ExchangeHandler`.
 */

import type { ByteBudget } from "../structures/byte-budget.ts";
import { Pieces } from "../structures/pieces.ts";
import type { RequestHandle, RequestHandler } from "./connection.ts";
import { EventStream, MAX_IDLE_BYTES } from "./event-stream.ts";
import type { ConnectionPool } from "./pool.ts";
import type { HttpHead } from "./request-head.ts";
import { type AnswerHead, EndlessResponseError, headerIn, headersIn } from "./response-parser.ts";

export interface ExchangeRequest {
  /** Build a head that is used repeatedly once, with `ConnectionPool.headOf`. */
  readonly head: HttpHead | string;
  readonly body?: string;
  /** The caller's id for this request. */
  readonly id?: number | undefined;
  /** Any value that the caller needs while the exchange lasts. */
  readonly about?: unknown;
}

/** Receives the events of an exchange. */
export interface ExchangeHandler {
  /** The maximum size of one message, in bytes. */
  readonly cap: number;
  started?(x: Exchange, headers: readonly string[]): void;
  message(x: Exchange, bytes: Buffer): void;
  /** Receives events other than `message`, which the 2024 transport uses. */
  other?(event: string, data: Buffer): void;
  overflow(x: Exchange, head: string, tail: string): void;
  /** The memory for all unfinished messages together. */
  readonly budget?: ByteBudget;
  /** The budget has no room for this message. The exchange ends. */
  crowded?(x: Exchange): void;
  done(x: Exchange): void;
}

const ERROR_TEXT_CAP = 64 * 1024;
const MAX_RETRY_MS = 60_000;
/** Smaller messages are not counted in the budget. */
const COUNTED = 64 * 1024;

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
  /** Undefined until a response arrives. */
  status: number | undefined;
  contentType = "";
  retryAfter: string | undefined;
  /** Where a redirect leads. */
  location: string | undefined;
  /** The WWW-Authenticate headers of a refusal, joined. */
  challenge: string | undefined;
  error: Error | undefined;
  /** The connection was never established, so the request was not sent. */
  unreachable = false;
  /** The start of the body, if it is not a message. */
  text = "";
  lastEventId: string | undefined;
  /** Body bytes received so far. */
  received = 0;
  /** The pause that the server asked for before the stream is reopened, if any. */
  retryMs: number | undefined;
  readonly #user: ExchangeHandler;
  #handle: RequestHandle | undefined;
  #stream: EventStream | undefined;
  /**
   * The body: one buffer if its length is known, otherwise pieces. `#size` counts the bytes
   * received.
   */
  #body: Buffer | undefined;
  #pieces: Pieces | undefined;
  #size = 0;
  /** What the budget counts. */
  #charged = 0;

  constructor(user: ExchangeHandler, id: number | undefined, about: unknown) {
    this.#user = user;
    this.id = id;
    this.about = about;
  }

  get wasStream(): boolean {
    return this.#stream !== undefined;
  }

  begin(handle: RequestHandle): void {
    this.#handle = handle;
  }

  abort(why = "not wanted any more"): void {
    this.#handle?.abort(new Error(why));
  }

  head({ status, headers, length }: AnswerHead): void {
    this.status = status;
    this.contentType = headerIn(headers, "content-type") ?? "";
    if (!this.#isSuccess) {
      this.retryAfter = headerIn(headers, "retry-after");
      this.location = headerIn(headers, "location");
      this.challenge = headersIn(headers, "www-authenticate");
    } else if (this.contentType.startsWith("text/event-stream")) this.#stream = this.#openStream();
    else if (length !== undefined && length <= this.#user.cap) this.#body = Buffer.allocUnsafe(length);
    this.#user.started?.(this, headers);
  }

  body(lent: Buffer): void {
    this.received += lent.length;
    if (this.#stream) this.#stream.push(Buffer.from(lent));
    else this.#keep(lent);
    const held = this.#stream ? this.#stream.held : this.#size;
    if (held > COUNTED || this.#charged > 0) this.#charge(held);
  }

  /** Counts the bytes of an unfinished message. */
  #charge(held: number): void {
    const { budget } = this.#user;
    if (!budget || !this.#isSuccess || !this.#handle) return;
    const more = held - this.#charged;
    if (more < 0) budget.giveBack(-more);
    else if (!budget.take(more, this.#charged)) {
      this.#user.crowded?.(this);
      return this.abort("the unfinished answers are too large together");
    }
    this.#charged = held;
  }

  #release(): void {
    if (this.#charged > 0) this.#user.budget?.giveBack(this.#charged);
    this.#charged = 0;
  }

  complete(): void {
    // The connection may be another request's by now.
    this.#handle = undefined;
    this.#release();
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
    this.#handle = undefined;
    this.#release();
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
      idles: () => {
        const why = `its answer has more than ${MAX_IDLE_BYTES} bytes of comments and empty events`;
        this.#handle?.abort(new EndlessResponseError(why));
      },
    });
  }
}
