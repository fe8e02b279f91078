/**
 * The connections to one HTTP server: kept open between requests, one request at a time on each, as many as there are requests under way.
 *
 * Written by hand because a measurement says so: a bare proxy takes 130 µs a call with undici's cheapest interface and 105 with this
 * (docs/performance.md). All connections read into one piece of memory, whose bytes are copied once, to where they stay.
 */
import { connect, isIP, type Socket, type TcpSocketConnectOpts } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { type AnswerHead, AnswerReader } from "./answer-reader.ts";

/** Is told what becomes of a request; `failed` or `complete` comes once, and last. */
export interface RequestUser {
  head(head: AnswerHead): void;
  /** Bytes of the body, which are only there until this returns. */
  body(lent: Buffer): void;
  complete(): void;
  /** `unreachable`: there was no connection to send it on. */
  failed(error: Error, unreachable: boolean): void;
}

export interface HttpHead {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How a request is given up. */
export interface Posted {
  giveUp(error: Error): void;
}

export interface Origin {
  readonly url: URL;
  readonly connectMs: number;
  /** By which name the server is to be asked for, if not by the URL's. */
  readonly host?: string | undefined;
}

/** For how long a connection is kept that nobody uses, where the server does not say; and how much earlier than it says. */
const IDLE_MS = 4000;
const MAX_IDLE_MS = 600_000;
const MARGIN_MS = 1000;
const PROBE_AFTER_MS = 60_000;
const TRUSTED = 10;
/** A connection that the server closes within this time after an answer might as well have had the next request on it. */
const YOUNG_MS = 1000;
const HANGS_UP_MS = 60_000;

/** What all connections read into. */
export const shared = Buffer.allocUnsafeSlow(64 * 1024);

export class Connections {
  readonly #origin: Origin;
  readonly #open = new Set<Connection>();
  /** Those without a request; the last one used is used next, so that what is too many grows old. */
  readonly #idle: Connection[] = [];
  /** Those whose answer has just come: whether the server has more to say, or hangs up, is seen a turn of the event loop later. */
  #resting: Connection[] = [];
  /** How many connections in a row outlived their answers; after enough of them it is not waited for any more. */
  #outlived = 0;
  /** Until then no connection is used again: the server hangs up after its answers without saying so. */
  #hangsUpUntil = 0;
  #sweep: NodeJS.Timeout | undefined;
  #destroyed = false;
  /** Of the last connection over TLS, so that the next one is made faster. */
  #session: Buffer | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /** What every request of this kind begins with. Throws where a header cannot be one. */
  headOf({ method, path, headers }: HttpHead): string {
    const host = headerValue("host", this.#origin.host ?? this.#origin.url.host);
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
    for (const name in headers) head += `${headerName(name)}: ${headerValue(name, headers[name]!)}\r\n`;
    return head;
  }

  send(head: string, body: string | undefined, user: RequestUser): Posted {
    if (this.#destroyed) throw closed();
    const connection = this.#take() ?? this.#connect();
    connection.send(head, body, user);
    return connection;
  }

  /** Breaks off what is under way. */
  destroy(): void {
    this.#destroyed = true;
    clearTimeout(this.#sweep);
    for (const open of this.#open) open.giveUp(closed());
  }

  #take(): Connection | undefined {
    const now = Date.now();
    for (let free = this.#idle.pop(); free; free = this.#idle.pop()) {
      if (free.idleUntil > now) return free;
      free.destroy();
    }
    return undefined;
  }

  #connect(): Connection {
    const socket = open(this.#origin, this.#session, (count) => made.read(count));
    socket.on("session", (session) => {
      this.#session = session;
    });
    const made: Connection = new Connection(socket, this.#origin, {
      answered: (isAll) => this.#answered(made, isAll),
      gone: (how) => {
        this.#open.delete(made);
        const at = this.#idle.indexOf(made);
        if (at !== -1) this.#idle.splice(at, 1);
        // A session that the server does not take up must not be offered again.
        if (how === "unready") this.#session = undefined;
        if (how !== "hung up") return;
        this.#outlived = 0;
        this.#hangsUpUntil = Date.now() + HANGS_UP_MS;
      },
    });
    this.#open.add(made);
    return made;
  }

  /** `isAll`: nothing more had arrived when the answer was read. */
  #answered(connection: Connection, isAll: boolean): void {
    if (this.#hangsUpUntil > 0 && this.#hangsUpUntil > Date.now()) connection.destroy();
    else if (isAll && this.#outlived >= TRUSTED) this.#free(connection);
    else this.#rest(connection);
  }

  /** Two turns: the first may be the one in which the answer was read. */
  #rest(connection: Connection): void {
    if (this.#resting.push(connection) > 1) return;
    setImmediate(() => {
      const rested = this.#resting;
      this.#resting = [];
      setImmediate(() => {
        for (const connection of rested) this.#free(connection);
      });
    });
  }

  #free(connection: Connection): void {
    if (connection.idleUntil === 0) return;
    this.#outlived++;
    this.#idle.push(connection);
    if (!this.#sweep && !this.#destroyed) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweep = setTimeout(() => {
      const now = Date.now();
      this.#sweep = undefined;
      for (const old of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) old.destroy();
      if (this.#idle.length > 0) this.#sweepLater();
    }, IDLE_MS).unref();
  }
}

interface Keeper {
  /** The connection may take another request. */
  answered(isAll: boolean): void;
  /** Before it was ready; by the server, soon after an answer and without a word of it; or in any other way. */
  gone(how: "unready" | "hung up" | "closed"): void;
}

class Connection implements Posted {
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  readonly #keeper: Keeper;
  #user: RequestUser | undefined;
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

  constructor(socket: Socket, { url, connectMs }: Origin, keeper: Keeper) {
    this.#socket = socket;
    this.#keeper = keeper;
    this.#isSecure = url.protocol === "https:";
    this.#reader = new AnswerReader({
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
      this.#keeper.gone(!this.#ready ? "unready" : this.#hungUp ? "hung up" : "closed");
      this.#fail(this.#error ?? brokenOff());
    });
  }

  send(head: string, body: string | undefined, user: RequestUser): void {
    this.#user = user;
    this.idleUntil = 0;
    this.#reader.next();
    if (this.#ready) this.#write(head, body);
    else this.#first = () => this.#write(head, body);
  }

  giveUp(error: Error): void {
    this.#givenUp = true;
    this.destroy(error);
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#dead = true;
    this.idleUntil = 0;
    this.#socket.destroy();
  }

  /** So many bytes are in the shared memory. What a user throws must not reach the event loop: it is an error of this connection. */
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
    const idleMs = isClean ? idleMsAfter(this.#reader.keptMs) : 0;
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
    const isYoung = this.#user ? this.#reader.untouched : Date.now() - this.#answeredAt < YOUNG_MS;
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
function open({ url, host }: Origin, session: Buffer | undefined, read: (count: number) => void): Socket {
  const address = nameIn(url.host);
  const secure = url.protocol === "https:";
  const callback = (count: number): boolean => {
    read(count);
    return true;
  };
  const options: TcpSocketConnectOpts = {
    host: address,
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

function idleMsAfter(keptMs: number | undefined): number {
  return keptMs === undefined ? IDLE_MS : Math.min(keptMs - MARGIN_MS, MAX_IDLE_MS);
}

function closed(): Error {
  return new Error("the connections to this server are closed");
}

function connectTimeout(ms: number): Error {
  return Object.assign(new Error(`no connection within ${ms} ms`), { code: "CONNECT_TIMEOUT" });
}

function brokenOff(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}

/** Where a request ends and what becomes of its connection is said here alone. */
const OWN_HEADERS = new Set(
  "connection content-length expect host keep-alive te trailer transfer-encoding upgrade".split(" "),
);

function headerName(name: string): string {
  if (OWN_HEADERS.has(name)) throw new TypeError(`The header "${name}" is the gateway's own`);
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of a header`);
  }
  return name;
}

function headerValue(name: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
    throw new TypeError(`The header "${name}" has a character that headers cannot have`);
  }
  return value;
}
