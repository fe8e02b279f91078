/**
 * A Link over Streamable HTTP: each message is a POST, answered with JSON or an event stream. A
 * standing GET stream carries messages that belong to no request.
 *
 * If a request's stream breaks, it is resumed with Last-Event-ID where the server numbers its
 * events. A request is never sent twice. If the server has lost the session, the link closes so
 * that a new one is made. The link never retries without a pause, and exchanges without a waiting
 * caller are closed.
 */

import { type Exchange, type ExchangeHandler, exchange } from "../http-client/exchange.ts";
import { ConnectionPool } from "../http-client/pool.ts";
import { proxyFor } from "../http-client/proxy.ts";
import { type HttpHead, lowerCased } from "../http-client/request-head.ts";
import { headerIn } from "../http-client/response-parser.ts";
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import { idAtEdges } from "../structures/lines.ts";
import { SmallMap } from "../structures/small-map.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import { type Credentials, loginMissing, refusable, type SentRequest } from "./http/credentials.ts";
import { errorAnswerIn } from "./http/error-answer.ts";
import { type BrokenStream, type ResumingLink, resumeAfter } from "./http/resume.ts";
import { fateOf, type HttpProblem, httpProblem, isGone, type RequestTarget, sessionForgotten } from "./http-problem.ts";
import { Lingering, type LingerOptions } from "./lingering.ts";
import type { Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";
import { type Redirect, redirectOf } from "./redirect.ts";
import { crowdedOut, type ServerBytes } from "./server-bytes.ts";
import { StandingStream } from "./standing-stream.ts";
import { type MessageLimit, tooLarge } from "./too-large.ts";

export interface HttpOptions extends MessageLimit {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectMs: number;
  /** Shared by all links to the server. */
  readonly bytes: ServerBytes;
  /** Without it, `headers` are all that there is. */
  readonly credentials?: Credentials | undefined;
  readonly linger?: LingerOptions;
  /** Hides the server's secrets in a text that it wrote. */
  readonly redact?: (text: string) => string;
  /** The server redirects to another address, where a new link may be opened. */
  readonly onRedirect?: (redirect: Redirect) => void;
}

const NONE = Object.freeze({});
const SESSION = "mcp-session-id";
const END_SESSION_MS = 1000;

export function httpLink(options: HttpOptions): OpenLink {
  return async (events) => new HttpLink(options, events);
}

class HttpLink implements Link {
  hasSession = false;
  readonly #connections: ConnectionPool;
  readonly #path: string;
  readonly #target: RequestTarget;
  readonly #onRedirect: HttpOptions["onRedirect"];
  readonly #events: LinkEvents;
  readonly #limit: MessageLimit;
  readonly #bytes: ServerBytes;
  readonly #postHeaders: Record<string, string>;
  /** Cached heads of POSTs, by the frozen headers of their messages. */
  #heads = new WeakMap<Readonly<Record<string, string>>, string>();
  readonly #posts: ExchangeHandler;
  readonly #exchanges = new SmallMap<number, Exchange>();
  readonly #lingering: Lingering;
  readonly #standing: StandingStream;
  readonly #credentials: Credentials | undefined;
  /** The handler of POSTs while there is no login. */
  readonly #anonymous: ExchangeHandler | undefined;
  readonly #resuming: ResumingLink = {
    isWanted: (id) => !this.#closed && this.#events.waiting(id),
    open: (broken, done) => this.#resume(broken, done),
    failed: (id, outcome) => this.#events.failed(id, this.#problem(outcome).error, "unknown"),
  };
  /** The server requires a new session. Requests in flight are still answered. */
  #forgotten = false;
  #closed = false;

  constructor(options: HttpOptions, events: LinkEvents) {
    const url = new URL(options.url);
    const { host, ...headers } = lowerCased(options.headers);
    this.#connections = new ConnectionPool({ url, connectMs: options.connectMs, host, proxy: proxyFor(url) });
    this.#target = { url, method: "POST", redact: options.redact ?? ((text) => text) };
    this.#onRedirect = options.onRedirect;
    this.#path = url.pathname + url.search;
    this.#events = events;
    this.#limit = options;
    this.#bytes = options.bytes;
    const accept = "application/json, text/event-stream";
    this.#postHeaders = { ...headers, "content-type": "application/json", accept };
    this.#credentials = options.credentials;
    this.#posts = this.#userOfPosts();
    this.#anonymous = options.credentials && this.#refusable(options.credentials, this.#posts);
    this.#lingering = new Lingering(() => this.#answered(), options.linger);
    this.#standing = new StandingStream({
      connections: this.#connections,
      request: (lastEventId) => this.#streamRequest(lastEventId),
      handler: {
        cap: options.messageCap,
        budget: options.bytes.answers,
        crowded: () => crowdedOut(this.#events, this.#limit, undefined),
        message: (_, bytes) => this.#events.message(bytes, undefined),
        overflow: (_, head, tail) => this.#tooLarge(idAtEdges(head, tail), head),
      },
      missed: () => this.#events.missed?.(),
      forgotten: () => this.#forget(),
      lost: (outcome) => this.#lose(this.#problem(outcome).error),
    });
  }

  send(text: string, options: SendOptions = {}, wasRepeated = false): void {
    if (this.#closed || this.#forgotten) return;
    const { id, headers, accepted, call } = options;
    const refusal = this.#bytes.refusal(text, this.#limit);
    if (refusal) return this.#refuse(refusal, id);
    const credentials = this.#credentials;
    if (credentials) this.#authorize(credentials);
    const request = { head: this.#headWith(headers ?? NONE), body: text, id, about: call };
    let handler = accepted ? this.#acceptedBy(accepted) : this.#posts;
    if (credentials?.header !== undefined)
      handler = this.#refusable(credentials, handler, { text, options, wasRepeated });
    else if (this.#anonymous && !accepted) handler = this.#anonymous;
    const posted = exchange(this.#connections, request, handler);
    this.#bytes.sent(posted, text);
    if (id === undefined) this.#lingering.add(posted);
    else if (this.#events.waiting(id)) this.#exchanges.set(id, posted);
    this.#lingering.sent();
  }

  drop(id: number): void {
    const dropped = this.#exchanges.get(id);
    this.#exchanges.delete(id);
    dropped?.abort();
  }

  established(headers: Readonly<Record<string, string>>): void {
    this.#setHeaders(headers);
    this.#standing.open();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#lingering.close();
    this.#standing.close();
    for (const open of this.#exchanges.values()) open.abort();
    this.#exchanges.clear();
    if (this.#postHeaders[SESSION] !== undefined) await this.#endSession();
    this.#connections.destroy();
  }

  /** Returns the handler that all POSTs share. */
  #userOfPosts(): ExchangeHandler {
    return {
      cap: this.#limit.messageCap,
      budget: this.#bytes.answers,
      crowded: ({ id }) => crowdedOut(this.#events, this.#limit, id),
      started: (x, answer) => {
        this.#bytes.taken(x);
        const session = headerIn(answer, SESSION);
        if (session === undefined || session === this.#postHeaders[SESSION]) return;
        if (/^[\x21-\x7e]+$/.test(session)) this.#setHeaders({ [SESSION]: session });
        else this.#events.problem("The server's session id has characters that no id can have; it is left out");
      },
      message: (x, bytes) => this.#events.message(bytes, x.id, callOf(x)),
      overflow: ({ id }, head, tail) => this.#tooLarge(id ?? idAtEdges(head, tail), head),
      done: (outcome) => this.#posted(outcome),
    };
  }

  /** Returns streams that delivered their answer and are still open. */
  #answered(): Exchange[] {
    return this.#exchanges.keys().flatMap((id) => (this.#events.waiting(id) ? [] : this.#exchanges.get(id)!));
  }

  #acceptedBy(accepted: () => void): ExchangeHandler {
    const done = (outcome: Exchange): void => {
      this.#posted(outcome);
      accepted();
    };
    return { ...this.#posts, done };
  }

  /** Sets the Authorization header, if it has changed since the last request. */
  #authorize({ header }: Credentials): void {
    if (header === this.#postHeaders["authorization"]) return;
    if (header === undefined) delete this.#postHeaders["authorization"];
    else this.#postHeaders["authorization"] = header;
    this.#heads = new WeakMap();
  }

  /** Without `sent`, the request cannot be repeated: there was no login to renew. */
  #refusable(credentials: Credentials, handler: ExchangeHandler, sent?: SentRequest): ExchangeHandler {
    return refusable(credentials, handler, {
      header: sent && credentials.header,
      wasRepeated: sent?.wasRepeated ?? false,
      isWanted: ({ id }) => !this.#closed && (id === undefined || this.#events.waiting(id)),
      again: (outcome) => {
        if (!sent) return this.#unauthorized(outcome, this.#problem(outcome).error);
        this.#lingering.delete(outcome);
        this.send(sent.text, sent.options, true);
      },
      failed: (outcome, error) => {
        this.#unauthorized(outcome, error);
        sent?.options.accepted?.();
      },
    });
  }

  #unauthorized(outcome: Exchange, error: GoblinError): void {
    const { id } = outcome;
    this.#lingering.delete(outcome);
    if (id !== undefined) this.#exchanges.delete(id);
    this.#refuse(error, id);
    if (error.reason === "login") this.#lose(loginMissing(error));
  }

  #headWith(headers: Readonly<Record<string, string>>): HttpHead | string {
    const known = this.#heads.get(headers);
    if (known !== undefined) return known;
    const head = { method: "POST" as const, path: this.#path, headers: { ...this.#postHeaders, ...headers } };
    // Headers made for one message must not be cached: the entries would burden the garbage
    // collector.
    if (!Object.isFrozen(headers)) return head;
    const made = this.#connections.headOf(head);
    this.#heads.set(headers, made);
    return made;
  }

  #setHeaders(headers: Readonly<Record<string, string>>): void {
    this.hasSession ||= SESSION in headers;
    Object.assign(this.#postHeaders, headers);
    this.#heads = new WeakMap();
  }

  #posted(outcome: Exchange): void {
    const { id } = outcome;
    this.#bytes.taken(outcome);
    this.#lingering.delete(outcome);
    if (id !== undefined) this.#exchanges.delete(id);
    if (this.#closed) return;
    this.#judge(id, outcome);
    if (this.#forgotten && this.#exchanges.size === 0) this.#lose(sessionForgotten());
  }

  #judge(id: number | undefined, outcome: Exchange): void {
    const forgotten = outcome.status === 404 && (this.#forgotten || this.#postHeaders[SESSION] !== undefined);
    if (id === undefined) {
      if (outcome.error || (outcome.status ?? 0) >= 300) this.#events.problem(this.#problem(outcome).error.message);
    } else if (this.#events.waiting(id)) {
      if (outcome.wasStream && outcome.lastEventId !== undefined) {
        const broken = { id, call: callOf(outcome), lastEventId: outcome.lastEventId, breaks: 0, tries: 0 };
        return resumeAfter(outcome.retryMs ?? 0, broken, this.#resuming);
      }
      if (forgotten) this.#events.failed(id, this.#problem(outcome).error, "unsent");
      else this.#refused(id, outcome);
    }
    if (forgotten) this.#forget();
    // One failed connection attempt says nothing about connections that work.
    else if (isGone(outcome) || (outcome.unreachable && this.#exchanges.size === 0)) {
      this.#lose(this.#problem(outcome).error);
    }
  }

  #problem(outcome: Exchange): HttpProblem {
    return httpProblem(outcome, this.#target);
  }

  /** A JSON-RPC error in the body is the answer. Any other refusal fails the request. */
  #refused(id: number, outcome: Exchange): void {
    if (outcome.text && outcome.contentType.startsWith("application/json")) {
      const answer = errorAnswerIn(outcome.text, id);
      if (answer) return this.#events.message(answer, id, callOf(outcome));
    }
    const { status, location } = outcome;
    const redirect = this.#onRedirect && redirectOf({ status, location, method: "POST" }, this.#target.url);
    if (redirect) this.#onRedirect?.(redirect);
    const { error, unsent } = this.#problem(outcome);
    this.#events.failed(id, error, unsent ? "unsent" : fateOf(outcome));
  }

  #resume({ id, call, lastEventId }: BrokenStream, done: (outcome: Exchange) => void): void {
    const resumed = exchange(this.#connections, this.#streamRequest(lastEventId), {
      cap: this.#limit.messageCap,
      budget: this.#bytes.answers,
      crowded: () => crowdedOut(this.#events, this.#limit, id),
      message: (_, bytes) => this.#events.message(bytes, id, call),
      overflow: (_, head) => this.#tooLarge(id, head),
      done: (outcome) => {
        this.#lingering.delete(outcome);
        this.#exchanges.delete(id);
        done(outcome);
      },
    });
    this.#exchanges.set(id, resumed);
  }

  #streamRequest(lastEventId: string | undefined) {
    if (this.#credentials) this.#authorize(this.#credentials);
    const { "content-type": _, ...headers } = this.#postHeaders;
    headers["accept"] = "text/event-stream";
    // Headers carry bytes: each UTF-8 byte becomes one latin1 character.
    if (lastEventId !== undefined) headers["last-event-id"] = Buffer.from(lastEventId).toString("latin1");
    return { head: { method: "GET" as const, path: this.#path, headers } };
  }

  #refuse(error: GoblinError, id: number | undefined): void {
    if (id === undefined) this.#events.problem(error.message);
    else this.#events.failed(id, error, "unsent");
  }

  #tooLarge(id: number | undefined, head: string): void {
    tooLarge(this.#events, this.#limit, { id, head });
  }

  #forget(): void {
    if (this.#closed || this.#forgotten) return;
    this.#forgotten = true;
    delete this.#postHeaders[SESSION];
    this.#heads = new WeakMap();
    this.#standing.close();
    this.#events.closed(sessionForgotten(), true);
    if (this.#exchanges.size === 0) this.#lose(sessionForgotten());
  }

  #lose(error: GoblinError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#lingering.close();
    this.#standing.close();
    this.#events.closed(error);
    this.#connections.destroy();
  }

  async #endSession(): Promise<void> {
    const { "content-type": _, ...headers } = this.#postHeaders;
    const request = { head: { method: "DELETE" as const, path: this.#path, headers } };
    const ended = new Promise<void>((done) => {
      exchange(this.#connections, request, { cap: 0, message: () => {}, overflow: () => {}, done: () => done() });
    });
    await withTimeout(ended, END_SESSION_MS, undefined);
  }
}

/** Returns the call that `send` attached. */
const callOf = ({ about }: Exchange): Call | undefined => about as Call | undefined;
