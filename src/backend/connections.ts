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
  failed(error: Error): void;
}

export interface HttpHead {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How a request is given up. */
export interface Posted {
  destroy(error: Error): void;
}

/** For how long a connection is kept that nobody uses, where the server does not say; and how much earlier than it says. */
const IDLE_MS = 4000;
const MAX_IDLE_MS = 600_000;
const MARGIN_MS = 1000;
const PROBE_AFTER_MS = 60_000;

const shared = Buffer.allocUnsafeSlow(64 * 1024);

export class Connections {
  readonly #url: URL;
  readonly #connectMs: number;
  readonly #open = new Set<Connection>();
  /** Those without a request; the last one used is used next, so that what is too many grows old. */
  readonly #idle: Connection[] = [];
  #sweep: NodeJS.Timeout | undefined;
  #destroyed = false;

  constructor(url: URL, connectMs: number) {
    this.#url = url;
    this.#connectMs = connectMs;
  }

  /** What every request of this kind begins with. Throws where a header cannot be one. */
  headOf({ method, path, headers }: HttpHead): string {
    let lines = "";
    for (const name in headers) {
      if (name !== "host") lines += `${headerName(name)}: ${headerValue(name, headers[name]!)}\r\n`;
    }
    const host = headerValue("host", headers["host"] ?? this.#url.host);
    return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}`;
  }

  send(head: string, body: string | undefined, user: RequestUser): Posted {
    if (this.#destroyed) throw new Error("the connections to this server are closed");
    const connection = this.#take() ?? this.#connect();
    connection.send(head, body, user);
    return connection;
  }

  /** Breaks off what is under way. */
  destroy(): void {
    this.#destroyed = true;
    clearTimeout(this.#sweep);
    for (const open of this.#open) open.destroy(new Error("the connections to this server are closed"));
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
    const made: Connection = new Connection(this.#url, this.#connectMs, {
      free: () => this.#free(made),
      gone: () => {
        this.#open.delete(made);
        const at = this.#idle.indexOf(made);
        if (at !== -1) this.#idle.splice(at, 1);
      },
    });
    this.#open.add(made);
    return made;
  }

  #free(connection: Connection): void {
    this.#idle.push(connection);
    this.#sweep ??= setTimeout(() => this.#sweepIdle(), IDLE_MS).unref();
  }

  #sweepIdle(): void {
    const now = Date.now();
    this.#sweep = undefined;
    for (const old of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) old.destroy();
    if (this.#idle.length > 0) this.#sweep = setTimeout(() => this.#sweepIdle(), IDLE_MS).unref();
  }
}

interface Keeper {
  free(): void;
  gone(): void;
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
  idleUntil = 0;

  constructor(url: URL, connectMs: number, keeper: Keeper) {
    this.#keeper = keeper;
    this.#reader = new AnswerReader({
      head: (head) => this.#user?.head(head),
      body: (lent) => {
        if (!this.#dead) this.#user?.body(lent);
      },
    });
    const secure = url.protocol === "https:";
    this.#socket = open(url, (count) => this.#read(count));
    const late = setTimeout(() => this.destroy(connectTimeout(connectMs)), connectMs);
    this.#socket.once(secure ? "secureConnect" : "connect", () => {
      clearTimeout(late);
      this.#ready = true;
      this.#first?.();
    });
    this.#socket.on("error", (error) => {
      this.#error ??= error;
    });
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("close", () => {
      clearTimeout(late);
      this.#keeper.gone();
      this.#fail(this.#error ?? brokenOff());
    });
  }

  send(head: string, body: string | undefined, user: RequestUser): void {
    this.#user = user;
    this.#reader.next();
    if (this.#ready) this.#write(head, body);
    else this.#first = () => this.#write(head, body);
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#dead = true;
    this.idleUntil = 0;
    this.#socket.destroy();
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

  /** What a user throws must not reach the event loop: it is an error of this connection. */
  #read(count: number): void {
    try {
      this.#take(shared.subarray(0, count));
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #take(bytes: Buffer): void {
    if (!this.#user) return this.destroy();
    const used = this.#reader.read(bytes);
    if (!this.#reader.complete || this.#dead) return;
    const idleMs = used === bytes.length && this.#reader.reusable ? idleMsAfter(this.#reader.keptMs) : 0;
    const user = this.#user;
    this.#user = undefined;
    if (idleMs > 0) {
      this.idleUntil = Date.now() + idleMs;
      this.#keeper.free();
    } else this.destroy();
    user.complete();
  }

  #ended(): void {
    const user = this.#user;
    if (!user || this.#dead || !this.#reader.end()) return this.destroy();
    this.#user = undefined;
    this.destroy();
    user.complete();
  }

  #fail(error: Error): void {
    const user = this.#user;
    this.#user = undefined;
    user?.failed(error);
  }
}

/** The bytes are in the shared memory when `read` is called, and not longer. */
function open(url: URL, read: (count: number) => void): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "https:";
  const callback = (count: number): boolean => {
    read(count);
    return true;
  };
  const options: TcpSocketConnectOpts = {
    host,
    port: Number(url.port) || (secure ? 443 : 80),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    onread: { buffer: shared, callback },
  };
  if (!secure) return connect(options);
  return connectSecurely({ ...options, ALPNProtocols: ["http/1.1"], ...(isIP(host) ? {} : { servername: host }) });
}

function idleMsAfter(keptMs: number | undefined): number {
  return keptMs === undefined ? IDLE_MS : Math.min(keptMs - MARGIN_MS, MAX_IDLE_MS);
}

function connectTimeout(ms: number): Error {
  return Object.assign(new Error(`no connection within ${ms} ms`), { code: "CONNECT_TIMEOUT" });
}

function brokenOff(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}

/** Where a request ends and what becomes of its connection is said here alone. */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function headerName(name: string): string {
  if (OWN_HEADERS.has(name)) throw new TypeError(`The header "${name}" is the gateway's own`);
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name))
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of a header`);
  return name;
}

function headerValue(name: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new TypeError(`The header "${name}" has a character that headers cannot have`);
  return value;
}
