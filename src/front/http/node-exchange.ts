/**
 * An exchange on Node's IncomingMessage and ServerResponse: no web streams, no copies, one write
 * for a small answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body, HttpExchange, RawStream, StreamEvents } from "./exchange.ts";

/** Larger answers do not fit into the socket's own buffers. */
const LARGE = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * What becomes of a client that does not take its answer: it must not keep it in memory for ever.
 */
export interface Unread {
  /** How long nothing of it may be read. */
  readonly ms: number;
  /** The client was cut off. */
  cut(): void;
}

export class NodeExchange implements HttpExchange {
  shared: Readonly<Record<string, string>> | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #unread: Unread;

  constructor(request: IncomingMessage, response: ServerResponse, unread: Unread) {
    this.#request = request;
    this.#response = response;
    this.#unread = unread;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  query(name: string): string | undefined {
    return new URL(this.#request.url ?? "/", "http://goblin").searchParams.get(name) ?? undefined;
  }

  body(limit: number, done: (body: Buffer | undefined) => void): void {
    const request = this.#request;
    if (Number(request.headers["content-length"]) > limit) return done(undefined);
    let first: Buffer | undefined;
    let all: Buffer[] | undefined;
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        if (size - chunk.length > limit) return;
        request.pause();
        done(undefined);
      } else if (!first) first = chunk;
      else if (all) all.push(chunk);
      else all = [first, chunk];
    });
    request.on("end", () => {
      if (size <= limit) done(all ? Buffer.concat(all) : (first ?? EMPTY));
    });
    // Whoever breaks off gets no answer; without a listener it would end the gateway.
    request.on("error", () => {});
  }

  reply(status: number, headers: Readonly<Record<string, string>>, body: Body = ""): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const parts = typeof body === "string" ? undefined : body;
    let length = 0;
    if (typeof body === "string") length = Buffer.byteLength(body);
    else for (const part of body) length += Buffer.byteLength(part);
    const lines: string[] = [];
    for (const name in headers) lines.push(name, headers[name]!);
    if (this.shared) for (const name in this.shared) lines.push(name, this.shared[name]!);
    if (status !== 204) lines.push("content-length", String(length));
    // An unread body would be taken for the next request on this connection.
    if (!this.#request.complete) lines.push("connection", "close");
    response.writeHead(status, lines);
    if (!parts) this.#end(body as string, length);
    else {
      response.cork();
      for (const part of parts) response.write(part);
      response.end();
      response.uncork();
    }
    if (length > LARGE) {
      response.setTimeout(this.#unread.ms, () => {
        this.#unread.cut();
        response.destroy();
      });
    }
  }

  /**
   * Head and body as one text in one write. `end(body)` would put an empty one behind it, and make
   * a list of both for the system: 5 % of a small call.
   */
  #end(body: string, length: number): void {
    const response = this.#response;
    const { socket } = response;
    if (!socket || length === 0) return void response.end(body);
    socket.cork();
    response.write(body, length === body.length ? "latin1" : "utf8");
    socket.uncork();
    response.end();
  }

  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream {
    const response = this.#response;
    response.writeHead(200, this.shared ? { ...headers, ...this.shared } : headers);
    response.flushHeaders();
    let full = false;
    response.on("drain", () => {
      full = false;
      events.drained();
    });
    response.once("close", () => events.closed());
    return {
      write(text) {
        if (full || response.destroyed) return false;
        full = !response.write(text);
        return true;
      },
      end: () => void response.end(),
      cut: () => void response.destroy(),
    };
  }

  onAbort(listener: () => void): void {
    this.#response.on("close", () => {
      if (!this.#response.writableFinished) listener();
    });
  }
}
