/**
 * Node's IncomingMessage, with two ways around what it costs: a small body comes without the
 * stream, and headers that came before on the connection are not read again.
 */
import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Pieces } from "../../../lib/structures/pieces.ts";
import { LatestHeaders } from "./latest-headers.ts";

const EMPTY = Buffer.alloc(0);
const NO_HEADERS: IncomingHttpHeaders = Object.freeze({});
const NO_RAW_HEADERS = Object.freeze([]) as readonly string[] as string[];

const LATEST = Symbol("latest headers");
type Connection = Socket & { [LATEST]?: LatestHeaders | undefined };
const nodeHeaders = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, "headers")!;

/**
 * Reading the body without Node's stream saves four ticks and their objects: 6 % of a small call.
 * The parser goes on reading meanwhile, so it is for bodies that are small.
 */
export class DirectRequest extends IncomingMessage {
  /** Whether the body was read without the stream. */
  isRead = false;
  #done: ((body: Buffer) => void) | undefined;
  #body: Buffer | Pieces = EMPTY;
  #headers: IncomingHttpHeaders | undefined;

  static {
    // As members of the class, TypeScript would not allow these.
    Object.defineProperties(DirectRequest.prototype, {
      // A request that has not ended is an aborted one for Node, when its connection closes.
      readableEnded: {
        get(this: DirectRequest) {
          return this.isRead || Reflect.get(IncomingMessage.prototype, "readableEnded", this);
        },
      },
      headers: {
        get(this: DirectRequest) {
          this.#headers ??= this.#readHeaders();
          return this.#headers;
        },
        set(this: DirectRequest, headers: IncomingHttpHeaders) {
          this.#headers = headers;
        },
      },
    });
  }

  /** Returns false if the body is on its way through the stream. */
  readBody(done: (body: Buffer) => void): boolean {
    if (this.complete || this.readableLength > 0) return false;
    this.#done = done;
    // Else Node would read the rest of the stream after the answer.
    (this as { _consuming?: boolean })._consuming = true;
    return true;
  }

  /** The headers are not read again: what is known of them on this connection is let go, too. */
  forgetHeaders(): void {
    const connection: Connection = this.socket;
    connection[LATEST] = undefined;
    this.rawHeaders = NO_RAW_HEADERS;
    nodeHeaders.set!.call(this, NO_HEADERS);
    this.#headers = NO_HEADERS;
  }

  /** Node's parser calls it with each part of the body, and with null at its end. */
  override push(chunk: Buffer | null): boolean {
    const done = this.#done;
    if (!done) return super.push(chunk);
    const body = this.#body;
    if (chunk === null) {
      this.isRead = true;
      this.#body = EMPTY;
      done(body instanceof Pieces ? body.take() : body);
    } else if (body instanceof Pieces) body.add(chunk);
    else if (body.length === 0) this.#body = chunk;
    else {
      const all = new Pieces();
      all.add(body);
      all.add(chunk);
      this.#body = all;
    }
    return true;
  }

  #readHeaders(): IncomingHttpHeaders {
    const connection: Connection = this.socket;
    const known = connection[LATEST]?.read(this.rawHeaders);
    if (known) return known;
    const headers = nodeHeaders.get!.call(this) as IncomingHttpHeaders;
    connection[LATEST] = LatestHeaders.of(this.rawHeaders, headers);
    return headers;
  }
}
