/**
 * An exchange on Node's IncomingMessage and ServerResponse: no web streams, no copies, and one
 * write for a small answer.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Pieces } from "../../../lib/structures/pieces.ts";
import { atTurnEnd, type TurnEndTask } from "../../../lib/timing/turn-end.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";
import { EVERYWHERE } from "../../../mcp/protocol/principal.ts";
import type { BodyHold } from "../../bodies/body-budget.ts";
import { EDGE, OversizedBody, READ_ON } from "../../bodies/oversized.ts";
import { pacedReads } from "../../bodies/paced-reads.ts";
import { pathOf } from "../../path.ts";
import type { TrustedProxies } from "../../trusted-proxies.ts";
import { type Body, type HttpExchange, JSON_HEADERS, type RawStream, type StreamEvents } from "../exchange.ts";
import { DirectRequest } from "./direct-request.ts";
import { hasFastPath } from "./fast-path.ts";
import { endInOneWrite } from "./node-members.ts";
import { NodeStream } from "./node-stream.ts";
import { IDLE_MS, OpenConnections } from "./open-connections.ts";
import { StallWatch, type UnreadLimit } from "./stall-watch.ts";

/** Larger answers do not fit into the socket's buffers. */
const LARGE = 256 * 1024;
/** Smaller answers are sent together with those to other clients. */
const SMALL = 16 * 1024;
const EMPTY = Buffer.alloc(0);
/**
 * The chunks of a body with many must not be tiny, on average. Node makes an event of every chunk,
 * and ten thousand of one byte fit into one read of a socket.
 */
const MANY_CHUNKS = 2048;
const TINY_BYTES = 16;
const TINY_CHUNKS = JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: {
    code: errorTable.INVALID_REQUEST.rpc,
    message: `The body came in more than ${MANY_CHUNKS} chunks of less than ${TINY_BYTES} bytes: send it in larger ones`,
  },
});
/** Tells clients how long an idle connection stays open. */
export const KEEP_ALIVE = `timeout=${IDLE_MS / 1000}`;
const NO_HEADERS: IncomingHttpHeaders = Object.freeze({});
const NO_RAW_HEADERS = Object.freeze([]) as readonly string[] as string[];
/** If the connection stays open this long after the last byte, the answer counts as delivered. */
const DELIVERED_MS = 1000;

/** What all exchanges share. */
export interface ExchangeOptions {
  readonly unread: UnreadLimit;
  readonly proxies: TrustedProxies;
  /** Whether the gateway stops, so that clients must not use their connections again. */
  readonly isStopping?: boolean | undefined;
  /** Where a request that another replica handed over came from. */
  readonly handedFrom?: string | undefined;
}

export class NodeExchange implements HttpExchange, TurnEndTask {
  shared: Readonly<Record<string, string>> | undefined;
  place = EVERYWHERE;
  hold: BodyHold | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  /** The body of an answer that is still to be sent. */
  #unsent: string | undefined;
  #encoding: "latin1" | "utf8" = "latin1";

  constructor(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
  }

  get isHandedOver(): boolean {
    return this.#options.handedFrom !== undefined;
  }

  get node() {
    return { incoming: this.#request, outgoing: this.#response };
  }

  get connection(): object {
    return this.#request.socket;
  }

  get network(): string {
    const { handedFrom } = this.#options;
    if (handedFrom !== undefined) return handedFrom;
    return this.#options.proxies.networkOf(this.#request.socket, this);
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get path(): string {
    return pathOf(this.#request.url ?? "/");
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  query(name: string): string | undefined {
    return new URL(this.#request.url ?? "/", "http://goblin").searchParams.get(name) ?? undefined;
  }

  body(bodyBytes: number, done: (body: Buffer | undefined, id?: number) => void): void {
    const request = this.#request;
    const most = bodyBytes * READ_ON;
    const length = Number(request.headers["content-length"]);
    if (length > most) return done(undefined);
    const { hold } = this;
    const isSmall = !hold && length <= bodyBytes;
    if (isSmall && hasFastPath() && request instanceof DirectRequest && request.readBody(done)) return;
    // Without a length, it is counted as it comes.
    const grows = Number.isNaN(length) ? hold : undefined;
    let limit = hold && !grows && !hold.take(Math.min(length, bodyBytes)) ? 0 : bodyBytes;
    const paced = hold && pacedReads(request);
    let first: Buffer | undefined;
    let all: Pieces | undefined;
    let over: OversizedBody | undefined;
    let size = 0;
    let chunks = 0;
    let isTiny = false;
    const take = (chunk: Buffer): void => {
      if (isTiny) return;
      size += chunk.length;
      if (hold && ++chunks > MANY_CHUNKS && size < chunks * TINY_BYTES) {
        // What was read comes here to the end: without a listener, Node would keep it.
        isTiny = true;
        request.socket.pause();
        this.reply(400, JSON_HEADERS, TINY_CHUNKS);
        this.atTurnEnd();
        request.socket.destroySoon();
        return;
      }
      if (grows && size <= limit && !grows.take(chunk.length)) limit = 0;
      if (size > limit) {
        if (size - chunk.length > most) return;
        over ??= new OversizedBody(all?.head(EDGE) ?? first ?? chunk);
        over.push(chunk);
        first = all = undefined;
        if (size > most) {
          request.pause();
          return done(undefined, over.id);
        }
      } else if (all) all.add(chunk);
      else if (first) {
        all = new Pieces();
        all.add(first);
        all.add(chunk);
      } else first = chunk;
      paced?.(chunk.length);
    };
    request.on("data", take);
    request.on("end", () => {
      if (size <= limit) done(all?.take() ?? first ?? EMPTY);
      else if (size <= most) done(undefined, over?.id);
    });
    // A client that disconnects gets no answer. Without this listener, the error would crash the
    // gateway.
    request.on("error", () => {});
  }

  reply(status: number, headers: Readonly<Record<string, string>>, body: Body = ""): void {
    const response = this.#response;
    if (response.headersSent) return;
    const parts = typeof body === "string" ? undefined : body;
    let length = 0;
    if (typeof body === "string") length = Buffer.byteLength(body);
    else for (const part of body) length += Buffer.byteLength(part);
    this.#writeHead(status, headers, length);
    if (!parts) {
      this.#unsent = body as string;
      if (length !== body.length) this.#encoding = "utf8";
      if (length > SMALL) this.atTurnEnd();
      else atTurnEnd(this);
    } else {
      this.#forgetWhenSent();
      response.cork();
      for (const part of parts) response.write(part);
      response.end();
      response.uncork();
    }
    if (length > LARGE) new StallWatch(response, this.#options.unread).start();
  }

  #writeHead(status: number, headers: Readonly<Record<string, string>>, length: number): void {
    const response = this.#response;
    const request = this.#request;
    // Later requests on the connection are still to be answered.
    const isLast = this.#options.isStopping && OpenConnections.isNewest(request.socket, response);
    const closes = isLast || !request.complete;
    const lines: string[] = [];
    for (const name in headers) lines.push(name, headers[name]!);
    if (this.shared) for (const name in this.shared) lines.push(name, this.shared[name]!);
    if (status !== 204) lines.push("content-length", String(length));
    // Node would read the rest of a body as the next request on the connection.
    if (!closes) lines.push("keep-alive", KEEP_ALIVE);
    else if (headers["connection"] === undefined) lines.push("connection", "close");
    response.writeHead(status, lines);
  }

  atTurnEnd(): void {
    const response = this.#response;
    // Null until the answers before this one were sent.
    const { socket } = response;
    const body = this.#unsent;
    this.#unsent = undefined;
    if (body === undefined || response.destroyed) return;
    if (hasFastPath() && socket?.writable && body !== "" && this.#request.method !== "HEAD") {
      endInOneWrite(response, body, this.#encoding);
      OpenConnections.over(socket, response);
    } else {
      this.#forgetWhenSent();
      response.end(body, this.#encoding);
    }
  }

  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream {
    const response = this.#response;
    response.writeHead(200, { ...headers, ...this.shared, "keep-alive": KEEP_ALIVE });
    response.flushHeaders();
    // A stream may be open for days, and wait most of the time. The headers are not read again.
    this.#request.rawHeaders = NO_RAW_HEADERS;
    this.#request.headers = NO_HEADERS;
    const { socket } = response;
    const stream = new NodeStream(response, this.#options.unread, events);
    this.onDone(() => {
      OpenConnections.over(this.#request.socket, response);
      events.closed();
      // What another replica has read, its client may never get.
      if (!events.delivered || !response.writableFinished || this.isHandedOver) return;
      setTimeout(() => socket?.destroyed === false && events.delivered?.(), DELIVERED_MS).unref();
    });
    return stream;
  }

  onAbort(listener: () => void): void {
    const response = this.#response;
    this.onDone(() => response.writableFinished || listener());
  }

  /** Lets the connection go of the answer as soon as it was sent. */
  #forgetWhenSent(): void {
    this.onDone(() => OpenConnections.over(this.#request.socket, this.#response));
  }

  onDone(listener: () => void): void {
    if (this.#response.destroyed) queueMicrotask(listener);
    else this.#response.once("close", listener);
  }
}
