/**
 * The heads of a link's requests: the configured headers, the session id and the credentials.
 *
 * Heads of messages that share their frozen headers are built once, as text. Every change of a
 * header drops the built ones.
 */
import type { ConnectionPool } from "../../../lib/http-client/pool.ts";
import type { HttpHead } from "../../../lib/http-client/request-head.ts";
import type { Credentials } from "./credentials.ts";

type Headers = Readonly<Record<string, string>>;

const SESSION = "mcp-session-id";
const AUTHORIZATION = "authorization";
const NONE = Object.freeze({});

export interface RequestHeadsOptions {
  readonly connections: ConnectionPool;
  /** Path and query. */
  readonly path: string;
  /** Lower case. */
  readonly headers: Headers;
  readonly credentials: Credentials | undefined;
}

export class RequestHeads {
  /** The name of the header with the session id. */
  static readonly session = SESSION;
  /** The server has given the link a session at some time. */
  hadSession = false;
  readonly #connections: ConnectionPool;
  readonly #path: string;
  readonly #credentials: Credentials | undefined;
  readonly #headers: Record<string, string>;
  #built = new WeakMap<Headers, string>();

  constructor({ connections, path, headers, credentials }: RequestHeadsOptions) {
    this.#connections = connections;
    this.#path = path;
    this.#credentials = credentials;
    const accept = "application/json, text/event-stream";
    this.#headers = { ...headers, "content-type": "application/json", accept };
  }

  get sessionId(): string | undefined {
    return this.#headers[SESSION];
  }

  set(headers: Headers): void {
    this.hadSession ||= SESSION in headers;
    Object.assign(this.#headers, headers);
    this.#built = new WeakMap();
  }

  forgetSession(): void {
    delete this.#headers[SESSION];
    this.#built = new WeakMap();
  }

  /** The head of a message with these headers of its own. */
  post(headers: Headers = NONE): HttpHead | string {
    this.#authorize();
    const known = this.#built.get(headers);
    if (known !== undefined) return known;
    const head = { method: "POST" as const, path: this.#path, headers: { ...this.#headers, ...headers } };
    // Headers made for one message must not be cached: the entries would burden the garbage
    // collector.
    if (!Object.isFrozen(headers)) return head;
    const built = this.#connections.headOf(head);
    this.#built.set(headers, built);
    return built;
  }

  /** The head of a GET for a stream after this event. */
  stream(lastEventId: string | undefined): HttpHead {
    this.#authorize();
    const { "content-type": _, ...headers } = this.#headers;
    headers["accept"] = "text/event-stream";
    // Headers carry bytes: each UTF-8 byte becomes one latin1 character.
    if (lastEventId !== undefined) headers["last-event-id"] = Buffer.from(lastEventId).toString("latin1");
    return { method: "GET", path: this.#path, headers };
  }

  /** The head of the request that ends the session. */
  end(): HttpHead {
    const { "content-type": _, ...headers } = this.#headers;
    return { method: "DELETE", path: this.#path, headers };
  }

  /** Sets the Authorization header, if it has changed since the last request. */
  #authorize(): void {
    if (!this.#credentials) return;
    const { header } = this.#credentials;
    if (header === this.#headers[AUTHORIZATION]) return;
    if (header === undefined) delete this.#headers[AUTHORIZATION];
    else this.#headers[AUTHORIZATION] = header;
    this.#built = new WeakMap();
  }
}
