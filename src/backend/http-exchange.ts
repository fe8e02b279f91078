/**
 * One HTTP request to a server and its answer, over undici's dispatch interface: the cheapest one it has.
 *
 * A JSON answer is one message; an event stream is one message an event, handed on as it arrives. Errors of the
 * connection and of the status are reported once, through `done`.
 */
import type { Dispatcher } from "undici";
import { EventStream } from "./event-stream.ts";

export interface ExchangeOptions {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** The most bytes of one message. */
  readonly cap: number;
  readonly started?: (status: number, headers: Record<string, string | string[] | undefined>) => void;
  readonly message: (bytes: Buffer) => void;
  /** An event other than `message`, as the 2024 transport has. */
  readonly other?: (event: string, data: Buffer) => void;
  readonly overflow: (head: string, tail: string) => void;
  readonly retry?: (ms: number) => void;
  readonly done: (outcome: ExchangeOutcome) => void;
}

export interface ExchangeOutcome {
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly error: Error | undefined;
  /** The start of a body that is no message. */
  readonly text: string;
  readonly lastEventId: string | undefined;
  readonly wasStream: boolean;
  readonly retryAfter: string | undefined;
  readonly contentType: string;
}

const ERROR_TEXT_CAP = 64 * 1024;

export interface Exchange {
  abort(): void;
}

export function exchange(dispatcher: Dispatcher, options: ExchangeOptions): Exchange {
  const handler = new Handler(options);
  const { method, path, headers, body } = options;
  dispatcher.dispatch({ method, path, headers, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 }, handler);
  return handler;
}

type Controller = Dispatcher.DispatchController;

class Handler implements Dispatcher.DispatchHandler, Exchange {
  readonly #options: ExchangeOptions;
  #controller: Controller | undefined;
  #aborted = false;
  #status: number | undefined;
  #contentType = "";
  #retryAfter: string | undefined;
  #stream: EventStream | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #lastEventId: string | undefined;
  #ended = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new Error("not wanted any more"));
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error("not wanted any more"));
  }

  onResponseStart(_: Controller, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#status = status;
    this.#contentType = one(headers["content-type"]) ?? "";
    this.#retryAfter = one(headers["retry-after"]);
    if (this.#isSuccess && this.#contentType.startsWith("text/event-stream")) {
      this.#stream = new EventStream({
        cap: this.#options.cap,
        event: ({ event, data, id }) => {
          if (id) this.#lastEventId = id;
          if (event === "message") {
            if (data.length > 0) this.#options.message(data);
          } else this.#options.other?.(event, data);
        },
        overflow: this.#options.overflow,
        ...(this.#options.retry && { retry: this.#options.retry }),
      });
    }
    this.#options.started?.(status, headers);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#stream) return this.#stream.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= (this.#isSuccess ? this.#options.cap : ERROR_TEXT_CAP)) this.#chunks.push(chunk);
    else if (this.#isSuccess) {
      this.#options.overflow(this.#chunks[0]?.toString("latin1", 0, 96) ?? "", "");
      controller.abort(new Error("the answer is too large"));
    }
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = [];
    const isMessage = this.#isSuccess && body.length > 0 && this.#contentType.startsWith("application/json");
    if (isMessage) this.#options.message(body);
    this.#finish(undefined, isMessage || this.#stream ? "" : body.toString("utf8"));
  }

  onResponseError(_: Controller, error: Error): void {
    this.#finish(error, "");
  }

  get #isSuccess(): boolean {
    return this.#status !== undefined && this.#status < 300;
  }

  #finish(error: Error | undefined, text: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.done({
      status: this.#status,
      error,
      text,
      lastEventId: this.#lastEventId,
      wasStream: this.#stream !== undefined,
      retryAfter: this.#retryAfter,
      contentType: this.#contentType,
    });
  }
}

export function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
