/**
 * One HTTP request to a server and its answer, over undici's dispatch interface: the cheapest one it has.
 *
 * A JSON answer is one message; an event stream is one message an event, handed on as it arrives. Errors of the
 * connection and of the status are reported once, through `done`. Whoever makes many requests of a kind uses one `ExchangeUser` for all of them.
 *
 * The handler is of undici's first kind, with the headers as bytes: for one of the newer kind undici makes two more objects a request and decodes
 * every header, which took 24 of 152 µs in a bare proxy (docs/performance.md).
 */
import type { Dispatcher } from "undici";
import { EventStream } from "./event-stream.ts";

export interface ExchangeRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** The request that this exchange is for, as its user knows it. */
  readonly id?: number | undefined;
}

/** Is told what becomes of an exchange. */
export interface ExchangeUser {
  /** The most bytes of one message. */
  readonly cap: number;
  started?(x: Exchange, headers: readonly Buffer[]): void;
  message(x: Exchange, bytes: Buffer): void;
  /** An event other than `message`, as the 2024 transport has. */
  other?(event: string, data: Buffer): void;
  overflow(x: Exchange, head: string, tail: string): void;
  retry?(ms: number): void;
  done(x: Exchange): void;
}

const ERROR_TEXT_CAP = 64 * 1024;

export function exchange(
  dispatcher: Pick<Dispatcher, "dispatch">,
  request: ExchangeRequest,
  user: ExchangeUser,
): Exchange {
  const { method, path, headers, body, id } = request;
  const made = new Exchange(user, id);
  dispatcher.dispatch({ method, path, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 }, made);
  return made;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly id: number | undefined;
  /** Undefined while, or because, there is no answer. */
  status: number | undefined;
  contentType = "";
  retryAfter: string | undefined;
  error: Error | undefined;
  /** The start of a body that is no message. */
  text = "";
  lastEventId: string | undefined;
  readonly #user: ExchangeUser;
  #abort: ((error: Error) => void) | undefined;
  #aborted = false;
  #stream: EventStream | undefined;
  #chunk: Buffer | undefined;
  #more: Buffer[] | undefined;
  #size = 0;
  #ended = false;

  constructor(user: ExchangeUser, id: number | undefined) {
    this.#user = user;
    this.id = id;
  }

  get wasStream(): boolean {
    return this.#stream !== undefined;
  }

  abort(why = "not wanted any more"): void {
    this.#aborted = true;
    this.#abort?.(new Error(why));
  }

  onConnect(abort: (error: Error) => void): void {
    this.#abort = abort;
    if (this.#aborted) this.abort();
  }

  onHeaders(status: number, headers: readonly Buffer[]): boolean {
    if (status < 200) return true;
    this.status = status;
    this.contentType = headerIn(headers, "content-type") ?? "";
    if (!this.#isSuccess) this.retryAfter = headerIn(headers, "retry-after");
    else if (this.contentType.startsWith("text/event-stream")) this.#stream = this.#openStream();
    this.#user.started?.(this, headers);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#stream) this.#stream.push(chunk);
    else this.#keep(chunk);
    return true;
  }

  onComplete(): void {
    const body = this.#more ? Buffer.concat(this.#more) : this.#chunk;
    this.#chunk = undefined;
    this.#more = undefined;
    if (body && this.#isSuccess && this.contentType.startsWith("application/json")) this.#user.message(this, body);
    else if (body) this.text = body.toString("utf8");
    this.#finish();
  }

  onError(error: Error): void {
    this.error = error;
    this.#finish();
  }

  get #isSuccess(): boolean {
    return this.status !== undefined && this.status < 300;
  }

  #keep(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= (this.#isSuccess ? this.#user.cap : ERROR_TEXT_CAP)) {
      if (!this.#chunk) this.#chunk = chunk;
      else if (this.#more) this.#more.push(chunk);
      else this.#more = [this.#chunk, chunk];
    } else if (this.#isSuccess) {
      this.#user.overflow(this, this.#chunk?.toString("latin1", 0, 96) ?? "", "");
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
      retry: (ms) => user.retry?.(ms),
    });
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#user.done(this);
  }
}

/** The first header of this name, which is in lower case; names and values alternate. */
export function headerIn(headers: readonly Buffer[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const given = headers[i]!;
    if (given.length === name.length && given.toString("latin1").toLowerCase() === name) {
      return headers[i + 1]!.toString("latin1");
    }
  }
  return undefined;
}
