/**
 * One connection to an HTTP server. It carries one request at a time. All connections read into one
 * shared buffer; handlers copy the bytes that they keep.
 */
import { connect, isIP, type Socket, type TcpSocketConnectOpts } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { afterAnswers, type TurnEndTask } from "../timing/turn-end.ts";
import { type AnswerHead, ResponseParser } from "./response-parser.ts";
import { connectSecurely, openProxy, Tunnel } from "./tunnel.ts";

/**
 * Receives the events of one request. Either `complete` or `failed` is called, exactly once and
 * last.
 */
export interface RequestHandler {
  head(head: AnswerHead): void;
  /** Receives bytes of the body. They are valid only until this returns. */
  body(lent: Buffer): void;
  complete(): void;
  /** `unreachable`: the connection was never established, so the request was not sent. */
  failed(error: Error, unreachable: boolean): void;
}

/** Aborts a request. */
export interface RequestHandle {
  abort(error: Error): void;
}

export interface Address {
  readonly url: URL;
  readonly connectMs: number;
  /** The host name for the Host header and TLS, if it differs from the URL's. */
  readonly host?: string | undefined;
  /** The proxy that carries the requests, if one does. */
  readonly proxy?: URL | undefined;
}

/**
 * How long an idle connection stays open if the server sends no keep-alive timeout. Otherwise
 * `MARGIN_MS` is subtracted from the server's timeout.
 */
export const IDLE_MS = 4000;
const MAX_IDLE_MS = 600_000;
const MARGIN_MS = 1000;
const PROBE_AFTER_MS = 60_000;
/**
 * If the server closes a connection this soon after a response, the next request could have been
 * lost on it.
 */
const YOUNG_MS = 1000;

/** After as many reads that filled the buffer, the next one waits for another turn. */
const MAX_FULL_READS = 2;

/** The read buffer of all connections. */
export const shared = Buffer.allocUnsafeSlow(64 * 1024);

export interface ConnectionOwner {
  /**
   * The connection can take another request. `isAll`: no further bytes had arrived with the
   * response.
   */
  answered(isAll: boolean): void;
  /**
   * `unready`: never connected. `unannounced`: the server closed a used connection without a word,
   * either right after a response or before the next one began. `closed`: anything else.
   */
  onClose(how: "unready" | "unannounced" | "closed"): void;
}

export class Connection implements RequestHandle, TurnEndTask {
  readonly #socket: Socket;
  readonly #reader: ResponseParser;
  readonly #owner: ConnectionOwner;
  #user: RequestHandler | undefined;
  #error: Error | undefined;
  /** The request that is still to be sent. */
  #head: string | undefined;
  #body: string | undefined;
  #ready = false;
  #dead = false;
  /** When the last response ended; 0 before the first one. */
  #answeredAt = 0;
  readonly #isSecure: boolean;
  #aborted = false;
  #closedUnannounced = false;
  /** Reads that filled the buffer since the last pause. */
  #fullReads = 0;
  /** The connection can be reused until this time; 0 while it is busy or must not be reused. */
  idleUntil = 0;

  constructor(socket: Socket, { url, connectMs, proxy }: Address, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
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
    const isTls = this.#isSecure || proxy?.protocol === "https:";
    socket.once(isTls ? "secureConnect" : "connect", () => {
      clearTimeout(late);
      // Set here because a TLS connection does not pass these options on to its TCP socket.
      socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
      this.#ready = true;
      if (this.#head !== undefined) this.atTurnEnd();
    });
    socket.on("error", (error) => this.#broken(error));
    socket.on("end", () => this.#ended());
    socket.on("close", () => {
      clearTimeout(late);
      this.#owner.onClose(!this.#ready ? "unready" : this.#closedUnannounced ? "unannounced" : "closed");
      this.#fail(this.#error ?? brokenOff());
    });
  }

  send(head: string, body: string | undefined, user: RequestHandler): void {
    this.#user = user;
    this.idleUntil = 0;
    this.#reader.next();
    this.#head = head;
    this.#body = body;
    if (this.#ready) afterAnswers(this);
  }

  /** Sends the request, with those of other connections. */
  atTurnEnd(): void {
    const head = this.#head;
    const body = this.#body;
    this.#head = this.#body = undefined;
    if (head !== undefined && !this.#dead) this.#write(head, body);
  }

  abort(error: Error): void {
    this.#aborted = true;
    // What was given to the connection is sent, as on any socket.
    if (this.#ready) this.atTurnEnd();
    this.destroy(error);
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#dead = true;
    this.idleUntil = 0;
    this.#socket.destroy();
  }

  /**
   * Handles `count` bytes in the shared buffer. An exception in a handler must not reach the event
   * loop: it fails this connection. Returns false to stop reading until the next turn: a server
   * that sends without a pause must not hold up other events.
   */
  read(count: number): boolean {
    try {
      this.#take(shared.subarray(0, count));
    } catch (error) {
      this.destroy(error as Error);
    }
    if (count < shared.length || ++this.#fullReads < MAX_FULL_READS) return true;
    this.#fullReads = 0;
    setImmediate(() => this.#socket.resume());
    return false;
  }

  #write(head: string, body: string | undefined): void {
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
    // Bytes that come before the request was sent are not its answer.
    if (!this.#user || this.#head !== undefined) return this.destroy();
    const used = this.#reader.read(bytes);
    if (!this.#reader.complete || this.#dead) return;
    // A server that responds before it has read the whole request may never read the rest.
    const isClean = used === bytes.length && this.#reader.reusable && this.#socket.writableLength === 0;
    const idleMs = isClean ? idleMsAfter(this.#reader.keepAliveMs) : 0;
    if (idleMs > 0) {
      this.#answeredAt = Date.now();
      this.idleUntil = this.#answeredAt + idleMs;
      // What comes over TLS comes in pieces, whatever else has arrived.
      this.#owner.answered(bytes.length < shared.length && !this.#isSecure);
    } else this.destroy();
    this.#complete();
  }

  #ended(): void {
    const isComplete = this.#user !== undefined && !this.#dead && this.#reader.end();
    this.#broken();
    if (isComplete) this.#complete();
  }

  /** Handles a close or an error that the server caused. */
  #broken(error?: Error): void {
    const isYoung = this.#user ? this.#reader.nothingReceived : Date.now() - this.#answeredAt < YOUNG_MS;
    if (!this.#dead && this.#answeredAt > 0 && isYoung) this.#closedUnannounced = true;
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
    user?.failed(error, !this.#ready && !this.#aborted);
  }
}

/** `callback` finds its bytes in the shared buffer. They are valid only during that call. */
export function openSocket(
  address: Address,
  session: Buffer | undefined,
  callback: (count: number) => boolean,
): Socket {
  const { url, host, proxy } = address;
  const secure = url.protocol === "https:";
  const onread = { buffer: shared, callback };
  if (proxy && !secure) return openProxy(proxy, { onread });
  const options: TcpSocketConnectOpts = {
    host: nameIn(url.host),
    port: Number(url.port) || (secure ? 443 : 80),
    onread,
  };
  if (!secure) return connect(options);
  const servername = nameIn(host ?? url.host);
  const tls = {
    ALPNProtocols: ["http/1.1"],
    ...(isIP(servername) ? {} : { servername }),
    ...(session && { session }),
  };
  if (!proxy) return connectSecurely({ ...options, ...tls });
  return throughProxy(new Tunnel(proxy, `${url.hostname}:${options.port}`), tls, callback);
}

/** TLS over another stream cannot read into a buffer of ours, so what it reads is copied there. */
function throughProxy(tunnel: Tunnel, tls: ConnectionOptions, read: (count: number) => boolean): Socket {
  const socket = connectSecurely({ ...tls, socket: tunnel });
  tunnel.on("error", (error) => socket.destroy(error));
  socket.on("data", (chunk: Buffer) => {
    let goesOn = true;
    for (let from = 0; from < chunk.length; from += shared.length) goesOn = read(chunk.copy(shared, 0, from));
    if (!goesOn) socket.pause();
  });
  return socket;
}

/** Returns the host without the port, and an IPv6 address without its brackets. */
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
