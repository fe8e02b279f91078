/**
 * The connections to one HTTP server: kept open between requests, as many as there are requests
 * under way.
 *
 * Written by hand because a measurement says so: a bare proxy takes 130 µs a call with undici's
 * cheapest interface and 105 with this (docs/performance.md).
 */
import {
  type Address,
  Connection,
  IDLE_MS,
  openSocket,
  type RequestHandle,
  type RequestHandler,
} from "./connection.ts";
import { type HttpHead, headText } from "./request-head.ts";

/** After so many connections that outlived their answers a server is trusted to keep them. */
const TRUSTED = 10;
const HANGS_UP_MS = 60_000;

export class ConnectionPool {
  readonly #address: Address;
  readonly #open = new Set<Connection>();
  /**
   * Those without a request; the last one used is used next, so that what is too many grows old.
   */
  readonly #idle: Connection[] = [];
  /**
   * Those whose answer has just come: whether the server has more to say, or hangs up, is seen a
   * turn of the event loop later.
   */
  #resting: Connection[] = [];
  /**
   * How many connections in a row outlived their answers; after enough of them it is not waited for
   * any more.
   */
  #outlived = 0;
  /**
   * Until then no connection is used again: the server hangs up after its answers without saying
   * so.
   */
  #hangsUpUntil = 0;
  #sweep: NodeJS.Timeout | undefined;
  #destroyed = false;
  /** Of the last connection over TLS, so that the next one is made faster. */
  #session: Buffer | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  /** What every request of this kind begins with. Throws where a header cannot be one. */
  headOf(head: HttpHead): string {
    return headText(head, this.#address.host ?? this.#address.url.host);
  }

  send(head: string, body: string | undefined, user: RequestHandler): RequestHandle {
    if (this.#destroyed) throw closed();
    const connection = this.#take() ?? this.#connect();
    connection.send(head, body, user);
    return connection;
  }

  /** Breaks off what is under way. */
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

function closed(): Error {
  return new Error("the connections to this server are closed");
}
