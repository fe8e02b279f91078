/**
 * The connections to one HTTP server. They stay open between requests; each concurrent request has
 * its own connection.
 *
 * Written by hand for speed: a bare proxy takes 130 µs per call with undici's cheapest interface,
 * and 105 µs with this one (docs/performance.md).
 */
import {
  type Address,
  Connection,
  IDLE_MS,
  openSocket,
  type RequestHandle,
  type RequestHandler,
} from "./connection.ts";
import { proxyAuthorization } from "./proxy.ts";
import { type HttpHead, headText } from "./request-head.ts";

/**
 * A server is trusted to keep connections open after this many connections in a row outlived their
 * responses.
 */
const TRUSTED = 10;
const NO_REUSE_MS = 60_000;

export class ConnectionPool {
  readonly #address: Address;
  readonly #open = new Set<Connection>();
  /**
   * Connections without a request. The most recently used one is reused first, so that surplus
   * connections expire.
   */
  readonly #idle: Connection[] = [];
  /**
   * Connections whose response has just ended. One turn of the event loop later we know whether the
   * server sent more or closed the connection.
   */
  #resting: Connection[] = [];
  /**
   * How many connections in a row outlived their responses. From `TRUSTED` on, connections are
   * reused without waiting.
   */
  #outlived = 0;
  /**
   * No connection is reused until this time, because the server closes connections after responses
   * without announcing it.
   */
  #noReuseUntil = 0;
  #sweep: NodeJS.Timeout | undefined;
  #destroyed = false;
  /** The TLS session of the last connection. Resuming it speeds up the next handshake. */
  #session: Buffer | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  /** Returns the head as text, for requests that share it. Throws if a header is invalid. */
  headOf(head: HttpHead): string {
    const { url, host = url.host, proxy } = this.#address;
    if (!proxy || url.protocol === "https:") return headText(head, host);
    // A proxy finds the server by the whole address in the request line.
    const authorization = proxyAuthorization(proxy);
    const login = authorization === undefined ? {} : { "proxy-authorization": authorization };
    return headText({ ...head, path: url.origin + head.path, headers: { ...head.headers, ...login } }, host);
  }

  send(head: string, body: string | undefined, user: RequestHandler): RequestHandle {
    if (this.#destroyed) throw closed();
    const connection = this.#take() ?? this.#connect();
    connection.send(head, body, user);
    return connection;
  }

  /** Aborts all requests and closes all connections. */
  destroy(): void {
    this.#destroyed = true;
    clearTimeout(this.#sweep);
    for (const open of this.#open) open.abort(closed());
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
    const socket = openSocket(this.#address, this.#session, (count) => made.read(count));
    socket.on("session", (session) => {
      this.#session = session;
    });
    const made: Connection = new Connection(socket, this.#address, {
      answered: (isAll) => this.#answered(made, isAll),
      onClose: (how) => {
        this.#open.delete(made);
        const at = this.#idle.indexOf(made);
        if (at !== -1) this.#idle.splice(at, 1);
        // Never offer a TLS session again that the server may have rejected.
        if (how === "unready") this.#session = undefined;
        if (how !== "unannounced") return;
        this.#outlived = 0;
        this.#noReuseUntil = Date.now() + NO_REUSE_MS;
      },
    });
    this.#open.add(made);
    return made;
  }

  /** `isAll`: no further bytes had arrived with the response. */
  #answered(connection: Connection, isAll: boolean): void {
    if (this.#noReuseUntil > 0 && this.#noReuseUntil > Date.now()) connection.destroy();
    else if (isAll && this.#outlived >= TRUSTED) this.#free(connection);
    else this.#rest(connection);
  }

  /** Waits two turns, because the first may be the one in which the response was read. */
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

function closed(): Error {
  return new Error("the connections to this server are closed");
}
