/**
 * A Link over Streamable HTTP: each message is a POST, answered with JSON or an event stream. A
 * standing GET stream carries messages that belong to no request.
 *
 * If a request's stream breaks, it is resumed with Last-Event-ID where the server numbers its
 * events. A request is never sent twice. If the server has lost the session, the link closes so
 * that a new one is made. The link never retries without a pause, and exchanges without a waiting
 * caller are closed.
 */

import { type Exchange, type ExchangeHandler, exchange } from "../../lib/http-client/exchange.ts";
import { ConnectionPool } from "../../lib/http-client/pool.ts";
import { proxyFor } from "../../lib/http-client/proxy.ts";
import { lowerCased } from "../../lib/http-client/request-head.ts";
import { headerIn } from "../../lib/http-client/response-parser.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import type { GoblinError } from "../protocol/errors.ts";
import { type Credentials, loginMissing, refusable, type SentRequest } from "./http/credentials.ts";
import { errorAnswerIn } from "./http/error-answer.ts";
import { callOf, type MessageReader, messageReader, type ReadingLimits } from "./http/message-reader.ts";
import { OpenExchanges } from "./http/open-exchanges.ts";
import { RequestHeads } from "./http/request-heads.ts";
import { type BrokenStream, type ResumingLink, resumeAfter } from "./http/resume.ts";
import { fateOf, type HttpProblem, httpProblem, isGone, type RequestTarget, sessionForgotten } from "./http-problem.ts";
import type { LingerOptions } from "./lingering.ts";
import type { Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";
import { type Redirect, redirectOf } from "./redirect.ts";
import type { ServerBytes } from "./server-bytes.ts";
import { StandingStream } from "./standing-stream.ts";
import type { LinkTap, MakeTap } from "./tap.ts";
import type { MessageLimit } from "./too-large.ts";

export interface HttpOptions extends ReadingLimits {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectMs: number;
  /** Without it, `headers` are all that there is. */
  readonly credentials?: Credentials | undefined;
  readonly linger?: LingerOptions;
  /** Hides the server's secrets in a text that it wrote. */
  readonly redact?: (text: string) => string;
  /** The server redirects to another address, where a new link may be opened. */
  readonly onRedirect?: (redirect: Redirect) => void;
  readonly tap?: MakeTap | undefined;
}

const END_SESSION_MS = 1000;

export function httpLink(options: HttpOptions): OpenLink {
  return async (events) => new HttpLink(options, events);
}

class HttpLink implements Link {
  readonly #connections: ConnectionPool;
  readonly #target: RequestTarget;
  readonly #onRedirect: HttpOptions["onRedirect"];
  readonly #events: LinkEvents;
  readonly #limit: MessageLimit;
  readonly #bytes: ServerBytes;
  readonly #heads: RequestHeads;
  readonly #reading: MessageReader;
  readonly #posts: ExchangeHandler;
  readonly #exchanges: OpenExchanges;
  readonly #standing: StandingStream;
  readonly #credentials: Credentials | undefined;
  readonly #tap: LinkTap | undefined;
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
    this.#events = events;
    this.#limit = options;
    this.#bytes = options.bytes;
    this.#credentials = options.credentials;
    const path = url.pathname + url.search;
    this.#heads = new RequestHeads({
      connections: this.#connections,
      path,
      headers,
      credentials: options.credentials,
    });
    this.#tap = options.tap?.();
    this.#reading = messageReader(events, options, this.#tap);
    this.#posts = this.#handlerOfPosts();
    this.#anonymous = options.credentials && this.#refusable(options.credentials, this.#posts);
    this.#exchanges = new OpenExchanges((id) => events.waiting(id), options.linger);
    this.#standing = new StandingStream({
      connections: this.#connections,
      request: (lastEventId) => ({ head: this.#heads.stream(lastEventId) }),
      handler: this.#reading,
      missed: () => this.#events.missed?.(),
      forgotten: () => this.#forget(),
      lost: (outcome) => this.#lose(this.#problem(outcome).error),
    });
  }

  get hasSession(): boolean {
    return this.#heads.hadSession;
  }

  send(text: string, options: SendOptions = {}, wasRepeated = false): void {
    if (this.#tap?.isOn && !wasRepeated) this.#tap.sent(text, options.call);
    if (this.#closed || this.#forgotten) return;
    const { id, headers, accepted, call } = options;
    const refusal = this.#bytes.refusal(text, this.#limit);
    if (refusal) return this.#refuse(refusal, id);
    const credentials = this.#credentials;
    const request = { head: this.#heads.post(headers), body: text, id, about: call };
    let handler = accepted ? this.#acceptedBy(accepted) : this.#posts;
    if (credentials?.header !== undefined)
      handler = this.#refusable(credentials, handler, { text, options, wasRepeated });
    else if (this.#anonymous && !accepted) handler = this.#anonymous;
    const posted = exchange(this.#connections, request, handler);
    this.#bytes.sent(posted, text);
    this.#exchanges.add(posted);
  }

  drop(id: number): void {
    this.#exchanges.drop(id);
  }

  established(headers: Readonly<Record<string, string>>): void {
    this.#heads.set(headers);
    this.#standing.open();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#exchanges.stop();
    this.#standing.close();
    this.#exchanges.abortAll();
    if (this.#heads.sessionId !== undefined) await this.#endSession();
    this.#connections.destroy();
  }

  /** Returns the handler that all POSTs share. */
  #handlerOfPosts(): ExchangeHandler {
    return {
      ...this.#reading,
      started: (x, headers) => {
        this.#bytes.taken(x);
        const session = headerIn(headers, RequestHeads.session);
        if (session === undefined || session === this.#heads.sessionId) return;
        if (/^[\x21-\x7e]+$/.test(session)) this.#heads.set({ [RequestHeads.session]: session });
        else this.#events.problem("The server's session id has characters that no id can have; it is left out");
      },
      done: (outcome) => this.#posted(outcome),
    };
  }

  #acceptedBy(accepted: () => void): ExchangeHandler {
    const done = (outcome: Exchange): void => {
      this.#posted(outcome);
      accepted();
    };
    return { ...this.#posts, done };
  }

  /** Without `sent`, the request cannot be repeated: there was no login to renew. */
  #refusable(credentials: Credentials, handler: ExchangeHandler, sent?: SentRequest): ExchangeHandler {
    return refusable(credentials, handler, {
      header: sent && credentials.header,
      wasRepeated: sent?.wasRepeated ?? false,
      isWanted: ({ id }) => !this.#closed && (id === undefined || this.#events.waiting(id)),
      again: (outcome) => {
        if (!sent) return this.#unauthorized(outcome, this.#problem(outcome).error);
        this.#exchanges.delete(outcome);
        this.send(sent.text, sent.options, true);
      },
      failed: (outcome, error) => {
        this.#unauthorized(outcome, error);
        sent?.options.accepted?.();
      },
    });
  }

  #unauthorized(outcome: Exchange, error: GoblinError): void {
    this.#exchanges.delete(outcome);
    this.#refuse(error, outcome.id);
    if (error.reason === "login") this.#lose(loginMissing(error));
    else if (error.reason === "renew") this.#forget(error);
  }

  #posted(outcome: Exchange): void {
    this.#bytes.taken(outcome);
    this.#exchanges.delete(outcome);
    if (this.#closed) return;
    this.#judge(outcome.id, outcome);
    if (this.#forgotten && this.#exchanges.size === 0) this.#lose(sessionForgotten());
  }

  #judge(id: number | undefined, outcome: Exchange): void {
    const forgotten = outcome.status === 404 && (this.#forgotten || this.#heads.sessionId !== undefined);
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
      if (answer) {
        if (this.#tap?.isOn) this.#tap.received(answer, callOf(outcome));
        return this.#events.message(answer, id, callOf(outcome));
      }
    }
    const { status, location } = outcome;
    const redirect = this.#onRedirect && redirectOf({ status, location, method: "POST" }, this.#target.url);
    if (redirect) this.#onRedirect?.(redirect);
    const { error, unsent } = this.#problem(outcome);
    this.#events.failed(id, error, unsent ? "unsent" : fateOf(outcome));
  }

  #resume({ id, call, lastEventId }: BrokenStream, done: (outcome: Exchange) => void): void {
    const request = { head: this.#heads.stream(lastEventId), id, about: call };
    const resumed = exchange(this.#connections, request, {
      ...this.#reading,
      done: (outcome) => {
        this.#exchanges.delete(outcome);
        done(outcome);
      },
    });
    this.#exchanges.resumed(id, resumed);
  }

  #refuse(error: GoblinError, id: number | undefined): void {
    if (id === undefined) this.#events.problem(error.message);
    else this.#events.failed(id, error, "unsent");
  }

  #forget(reason = sessionForgotten()): void {
    if (this.#closed || this.#forgotten) return;
    this.#forgotten = true;
    this.#heads.forgetSession();
    this.#standing.close();
    this.#events.closed(reason, true);
    if (this.#exchanges.size === 0) this.#lose(reason);
  }

  #lose(error: GoblinError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#exchanges.stop();
    this.#standing.close();
    this.#events.closed(error);
    this.#connections.destroy();
  }

  async #endSession(): Promise<void> {
    const request = { head: this.#heads.end() };
    const ended = new Promise<void>((done) => {
      exchange(this.#connections, request, { cap: 0, message: () => {}, overflow: () => {}, done: () => done() });
    });
    await withTimeout(ended, END_SESSION_MS, undefined);
  }
}
