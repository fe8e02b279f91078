/**
 * An exchange on a web Request, for other runtimes and in-process tests. `response` resolves to the
 * answer. The protocol code is the same as on Node.
 */

import { Pieces } from "../../lib/structures/pieces.ts";
import { EVERYWHERE } from "../../mcp/protocol/principal.ts";
import type { BodyHold } from "../bodies/body-budget.ts";
import { EDGE, OversizedBody, READ_ON } from "../bodies/oversized.ts";
import type { Body, HttpExchange, RawStream, StreamEvents } from "./exchange.ts";

export class WebExchange implements HttpExchange {
  shared: Readonly<Record<string, string>> | undefined;
  place = EVERYWHERE;
  hold: BodyHold | undefined;
  readonly network = "";
  readonly response: Promise<Response>;
  readonly #request: Request;
  #resolve: (response: Response) => void = () => {};
  #answered = false;

  constructor(request: Request) {
    this.#request = request;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return new URL(this.#request.url).pathname;
  }

  header(name: string): string | undefined {
    return webHeader(this.#request, name);
  }

  query(name: string): string | undefined {
    return new URL(this.#request.url).searchParams.get(name) ?? undefined;
  }

  body(limit: number, done: (body: Buffer | undefined, id?: number) => void): void {
    // A client that disconnects gets no answer.
    this.#read(limit).then(
      (read) => (read instanceof OversizedBody ? done(undefined, read.id) : done(read)),
      () => {},
    );
  }

  async #read(bodyBytes: number): Promise<Buffer | OversizedBody> {
    let limit = bodyBytes;
    const kept = new Pieces();
    let over: OversizedBody | undefined;
    let size = 0;
    for await (const part of this.#request.body ?? []) {
      const chunk = Buffer.from(part);
      size += chunk.length;
      if (size <= limit && this.hold && !this.hold.take(chunk.length)) limit = 0;
      if (size <= limit) kept.add(chunk);
      else {
        over ??= new OversizedBody(kept.size > 0 ? kept.head(EDGE) : chunk);
        over.push(chunk);
        kept.clear();
        if (size > bodyBytes * READ_ON) break;
      }
    }
    return over ?? kept.take();
  }

  reply(status: number, headers: Readonly<Record<string, string>>, body: Body = ""): void {
    const bytes = typeof body === "string" ? body : Buffer.concat(body.map((part) => Buffer.from(part)));
    const all = { ...headers, ...this.shared };
    this.#answer(new Response(status === 204 || status === 202 ? null : bytes, { status, headers: all }));
  }

  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream {
    const encoder = new TextEncoder();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let open = true;
    const closed = (): void => {
      if (!open) return;
      open = false;
      events.closed();
    };
    const opened = (made: ReadableStreamDefaultController<Uint8Array>): void => {
      controller = made;
    };
    const body = new ReadableStream<Uint8Array>(
      { start: opened, pull: () => events.drained(), cancel: closed },
      { highWaterMark: 64 * 1024, size: (chunk) => chunk.length },
    );
    this.#answer(new Response(body, { headers: { ...headers, ...this.shared } }));
    return {
      get isFull() {
        return !open || !controller || (controller.desiredSize ?? 0) <= 0;
      },
      write: (text) => void (open && controller?.enqueue(encoder.encode(text))),
      cut() {
        if (!open) return;
        closed();
        controller?.error(new Error("The client reads too slowly"));
      },
      end() {
        if (!open) return;
        closed();
        controller?.close();
      },
    };
  }

  onAbort(listener: () => void): void {
    this.#request.signal.addEventListener("abort", listener, { once: true });
  }

  /** The web API does not report delivery, so an answer counts as sent once it exists. */
  onDone(listener: () => void): void {
    void this.response.then(listener);
  }

  #answer(response: Response): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#resolve(response);
  }
}

/**
 * Returns a header of a web Request. A Request made in process has no Host header, so its URL
 * supplies the host.
 */
export function webHeader(request: Request, name: string): string | undefined {
  const value = request.headers.get(name);
  if (value !== null) return value;
  return name === "host" ? new URL(request.url).host : undefined;
}
