/**
 * One connection to an HTTP server, with one request on it at a time. All connections read into one
 * piece of memory, whose bytes are copied once, to where they stay.
 */
import { connect, isIP, type Socket, type TcpSocketConnectOpts } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { type AnswerHead, ResponseParser } from "./response-parser.ts";

/** Is told what becomes of a request; `failed` or `complete` comes once, and last. */
export interface RequestHandler {
  head(head: AnswerHead): void;
  /** Bytes of the body, which are only there until this returns. */
  body(lent: Buffer): void;
  complete(): void;
  /** `unreachable`: there was no connection to send it on. */
  failed(error: Error, unreachable: boolean): void;
}

/** How a request is given up. */
export interface RequestHandle {
  abort(error: Error): void;
}

export interface Address {
  readonly url: URL;
  readonly connectMs: number;
  /** By which name the server is to be asked for, if not by the URL's. */
  readonly host?: string | undefined;
}

/**
 * For how long a connection is kept that nobody uses, where the server does not say; and how much
 * earlier than it says.
 */
export const IDLE_MS = 4000;
const MAX_IDLE_MS = 600_000;
const MARGIN_MS = 1000;
const PROBE_AFTER_MS = 60_000;
/**
 * A connection that the server closes within this time after an answer might as well have had the
 * next request on it.
 */
const YOUNG_MS = 1000;

/** What all connections read into. */
export const shared = Buffer.allocUnsafeSlow(64 * 1024);

export interface ConnectionOwner {
  /** The connection may take another request. */
  answered(isAll: boolean): void;
  /**
   * Before it was ready; by the server, soon after an answer and without a word of it; or in any
   * other way.
   */
  onClose(how: "unready" | "hung up" | "closed"): void;
}

export class Connection implements RequestHandle {
  readonly #socket: Socket;
  readonly #reader: ResponseParser;
  readonly #keeper: ConnectionOwner;
  #user: RequestHandler | undefined;
  #error: Error | undefined;
  /** The request that waits for the connection to be there. */
  #first: (() => void) | undefined;
  #ready = false;
  #dead = false;
  /** When it brought its last answer; 0: there was none yet. */
  #answeredAt = 0;
  readonly #isSecure: boolean;
  #givenUp = false;
  #hungUp = false;
  /** Until when it may be used again; 0 while, or because, it may not. */
  idleUntil = 0;

  constructor(socket: Socket, { url, connectMs }: Address, keeper: ConnectionOwner) {
    this.#socket = socket;
    this.#keeper = keeper;
    this.#isSecure = url.protocol === "https:";
    this.#reader = new ResponseParser({
      head: (head) => {
        if (!this.#dead) this.#user?.head(head);
      },
      body: (lent) => {
        if (!this.#dead) this.#user?.body(lent);
      },
    });
    const late = setTimeout(() => this.destroy(connectTimeout(connectMs)), connectMs);
    socket.once(this.#isSecure ? "secureConnect" : "connect", () => {
      clearTimeout(late);
      // Not as options: those of a connection over TLS do not reach the socket below it.
      socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
      this.#ready = true;
      this.#first?.();
    });
    socket.on("error", (error) => this.#broken(error));
    socket.on("end", () => this.#ended());
    socket.on("close", () => {
      clearTimeout(late);
      this.#keeper.onClose(!this.#ready ? "unready" : this.#hungUp ? "hung up" : "closed");
      this.#fail(this.#error ?? brokenOff());
    });
  }

  send(head: string, body: string | undefined, user: RequestHandler): void {
    this.#user = user;
    this.idleUntil = 0;
    this.#reader.next();
    if (this.#ready) this.#write(head, body);
    else this.#first = () => this.#write(head, body);
  }

  abort(error: Error): void {
    this.#givenUp = true;
    this.destroy(error);
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#dead = true;
    this.idleUntil = 0;
    this.#socket.destroy();
  }

  /**
   * So many bytes are in the shared memory. What a user throws must not reach the event loop: it is
   * an error of this connection.
   */
  read(count: number): void {
    try {
      this.#take(shared.subarray(0, count));
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #write(head: string, body: string | undefined): void {
    this.#first = undefined;
    if (body === undefined) {
      this.#socket.write(`${head}\r\n`, "latin1");
      return;
    }
    const length = Buffer.byteLength(body);
    const start = `${head}content-length: ${length}\r\n\r\n`;
    if (length === body.length) this.#socket.write(start + body, "latin1");
    else {
      this.#socket.cork();
      this.#socket.write(start, "latin1");
      this.#socket.write(body, "utf8");
      this.#socket.uncork();
    }
  }

  #take(bytes: Buffer): void {
    if (!this.#user) return this.destroy();
    const used = this.#reader.read(bytes);
    if (!this.#reader.complete || this.#dead) return;
    // A server that answers before it has read the whole request may never read the rest.
    const isClean = used === bytes.length && this.#reader.reusable && this.#socket.writableLength === 0;
    const idleMs = isClean ? idleMsAfter(this.#reader.keepAliveMs) : 0;
    if (idleMs > 0) {
      this.#answeredAt = Date.now();
      this.idleUntil = this.#answeredAt + idleMs;
      // What comes over TLS comes in pieces, whatever else has arrived.
      this.#keeper.answered(bytes.length < shared.length && !this.#isSecure);
    } else this.destroy();
    this.#complete();
  }

  #ended(): void {
    const isComplete = this.#user !== undefined && !this.#dead && this.#reader.end();
    this.#broken();
    if (isComplete) this.#complete();
  }

  /** By the server's hand. */
  #broken(error?: Error): void {
    const isYoung = this.#user ? this.#reader.nothingReceived : Date.now() - this.#answeredAt < YOUNG_MS;
    if (!this.#dead && this.#answeredAt > 0 && isYoung) this.#hungUp = true;
    this.destroy(error);
  }

  #complete(): void {
    const user = this.#user;
    this.#user = undefined;
    try {
      user?.complete();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #fail(error: Error): void {
    const user = this.#user;
    this.#user = undefined;
    user?.failed(error, !this.#ready && !this.#givenUp);
  }
}

/** The bytes are in the shared memory when `read` is called, and not longer. */
export function openSocket({ url, host }: Address, session: Buffer | undefined, read: (count: number) => void): Socket {
  const secure = url.protocol === "https:";
  const callback = (count: number): boolean => {
    read(count);
    return true;
  };
  const options: TcpSocketConnectOpts = {
    host: nameIn(url.host),
    port: Number(url.port) || (secure ? 443 : 80),
    onread: { buffer: shared, callback },
  };
  if (!secure) return connect(options);
  const servername = nameIn(host ?? url.host);
  return connectSecurely({
    ...options,
    ALPNProtocols: ["http/1.1"],
    ...(isIP(servername) ? {} : { servername }),
    ...(session && { session }),
  });
}

/** Without the port, and an address of IPv6 without its brackets. */
function nameIn(host: string): string {
  return host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
}

function idleMsAfter(keepAliveMs: number | undefined): number {
  return keepAliveMs === undefined ? IDLE_MS : Math.min(keepAliveMs - MARGIN_MS, MAX_IDLE_MS);
}

function connectTimeout(ms: number): Error {
  return Object.assign(new Error(`no connection within ${ms} ms`), { code: "CONNECT_TIMEOUT" });
}

function brokenOff(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}
