/**
 * An exchange on Node's IncomingMessage and ServerResponse: no web streams, no copies, one write for a small answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body, HttpExchange, RawStream, StreamEvents } from "./exchange.ts";

/** Larger answers do not fit into the socket's own buffers. */
const LARGE = 256 * 1024;
const NOT_READ_MS = 60_000;

export class NodeExchange implements HttpExchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
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

  body(limit: number): Promise<Buffer | undefined> {
    const request = this.#request;
    if (Number(request.headers["content-length"]) > limit) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) {
          request.pause();
          resolve(undefined);
        } else chunks.push(chunk);
      });
      request.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      request.once("error", reject);
    });
  }

  reply(status: number, headers: Readonly<Record<string, string>>, body: Body = ""): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const parts = typeof body === "string" ? [body] : body;
    let length = 0;
    for (const part of parts) length += Buffer.byteLength(part);
    // An unread body would be taken for the next request on this connection.
    const close = this.#request.complete ? undefined : { connection: "close" };
    response.writeHead(
      status,
      status === 204 ? { ...headers, ...close } : { ...headers, "content-length": length, ...close },
    );
    if (parts.length === 1) response.end(parts[0]);
    else {
      response.cork();
      for (const part of parts) response.write(part);
      response.end();
      response.uncork();
    }
    // A client that does not take its answer must not keep it in memory for ever.
    if (length > LARGE) response.setTimeout(NOT_READ_MS, () => response.destroy());
  }

  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream {
    const response = this.#response;
    response.writeHead(200, headers);
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
    this.#response.once("close", () => {
      if (!this.#response.writableFinished) listener();
    });
  }
}
