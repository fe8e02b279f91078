/**
 * A client for one Redis or Valkey, on a socket of its own.
 *
 * It is made for a store that may be gone at any time, which the usual packages are not by default.
 * No command waits for a connection, and every command has a short deadline. After a failure,
 * commands fail at once until there is a connection again. The gateway needs a dozen commands of
 * one server; most of a package of 1 MB and more would be unused.
 */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { encodeCommand, type Reply, ReplyError, ReplyParser } from "./resp.ts";

export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and database if needed. */
  readonly url: string;
  /** The time for a command, and for a connection. */
  readonly timeoutMs: number;
  /** Runs when a connection is ready, before any other command. */
  readonly connected: () => void;
  /** Runs once when the connection is lost, or could not be made. */
  readonly failed: (reason: string) => void;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly expires: number;
}

const DEFAULT_PORT = 6379;
const LEAST_RETRY_MS = 100;
const MOST_RETRY_MS = 2000;
/** More would only wait for their deadline. */
const MOST_WAITING = 10_000;

export class Redis {
  readonly #options: RedisOptions;
  readonly #url: URL;
  #socket: Socket | undefined;
  #isReady = false;
  #waiting: Waiting[] = [];
  #retryMs = LEAST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #hasFailed = false;
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, options.timeoutMs / 4)).unref();
    this.#connect();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Rejects at once without a connection, and after the deadline without a reply. */
  command(...parts: readonly (string | number)[]): Promise<Reply> {
    if (!this.#isReady) return Promise.reject(new Error("Redis is not connected"));
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new Error("Redis is too slow"));
    return this.#send(parts);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearInterval(this.#sweeper);
    this.#drop("the gateway closes");
  }

  #send(parts: readonly (string | number)[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject, expires: Date.now() + this.#options.timeoutMs });
      this.#socket!.write(encodeCommand(parts));
    }).then((reply) => {
      if (reply instanceof ReplyError) throw new Error(reply.message);
      return reply as Reply;
    });
  }

  #connect(): void {
    const { hostname, port, protocol } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, "") || "127.0.0.1";
    const to = { host, port: Number(port) || DEFAULT_PORT };
    const isSecure = protocol === "rediss:";
    const socket = isSecure ? connectSecure({ ...to, servername: host }) : connectPlain(to);
    const parser = new ReplyParser();
    this.#socket = socket;
    socket.setNoDelay(true);
    const timer = setTimeout(() => this.#drop("it does not answer", socket), this.#options.timeoutMs).unref();
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      this.#greet().then(
        () => {
          clearTimeout(timer);
          if (this.#socket !== socket) return;
          this.#isReady = true;
          this.#hasFailed = false;
          this.#retryMs = LEAST_RETRY_MS;
          this.#options.connected();
        },
        (error: unknown) => this.#drop(messageOf(error), socket),
      );
    });
    socket.on("data", (chunk) => {
      if (this.#socket !== socket) return;
      try {
        for (const reply of parser.push(chunk)) this.#waiting.shift()?.resolve(reply);
      } catch (error) {
        this.#drop(messageOf(error), socket);
      }
    });
    socket.on("error", (error) => this.#drop(error.message, socket));
    socket.on("close", () => {
      clearTimeout(timer);
      this.#drop("it closed the connection", socket);
    });
  }

  async #greet(): Promise<void> {
    const { username, password, pathname } = this.#url;
    const given = [username, password].filter((part) => part !== "").map(decodeURIComponent);
    if (given.length > 0) await this.#send(["AUTH", ...given]).catch((error) => Promise.reject(masked(error, given)));
    const database = pathname.slice(1);
    if (database !== "" && database !== "0") await this.#send(["SELECT", database]);
    await this.#send(["PING"]);
  }

  /** A connection whose replies come late is not one to wait for. */
  #sweep(): void {
    const [oldest] = this.#waiting;
    if (!oldest || oldest.expires >= Date.now()) return;
    // If it was this process that slept, the reply is here and will be read in this turn.
    setImmediate(() => {
      if (this.#waiting[0] === oldest) this.#drop("it does not answer");
    });
  }

  #drop(reason: string, socket = this.#socket): void {
    if (socket === undefined || socket !== this.#socket) return;
    this.#socket = undefined;
    this.#isReady = false;
    socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new Error(reason));
    if (this.#closed) return;
    if (!this.#hasFailed) this.#options.failed(reason);
    this.#hasFailed = true;
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs * (0.5 + Math.random() / 2)).unref();
    this.#retryMs = Math.min(MOST_RETRY_MS, this.#retryMs * 2);
  }
}

/** A Redis that does not know a command repeats what came with it, or the beginning of that. */
function masked(error: unknown, secrets: readonly string[]): Error {
  const [said = ""] = messageOf(error).split(", with args", 1);
  return new Error(secrets.reduce((text, secret) => text.replaceAll(secret, "***"), said));
}
