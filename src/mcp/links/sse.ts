/**
 * A Link over the HTTP+SSE transport of the first protocol version. One GET stream carries all
 * incoming messages; its first event, `endpoint`, names the address for POSTs. When the stream
 * ends, the link is closed. A POST without a response is aborted some time after the last caller
 * stopped waiting for it.
 */

import { type Exchange, type ExchangeHandler, exchange } from "../../lib/http-client/exchange.ts";
import { ConnectionPool } from "../../lib/http-client/pool.ts";
import { proxyFor } from "../../lib/http-client/proxy.ts";
import { lowerCased } from "../../lib/http-client/request-head.ts";
import { idAtEdges } from "../../lib/structures/lines.ts";
import { SmallMap } from "../../lib/structures/small-map.ts";
import { GoblinError } from "../protocol/errors.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import { type Credentials, loginMissing, refusable } from "./http/credentials.ts";
import { httpProblem, type RequestTarget } from "./http-problem.ts";
import { Lingering, type LingerOptions } from "./lingering.ts";
import type { Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";
import { redirectOf } from "./redirect.ts";
import type { ServerBytes } from "./server-bytes.ts";
import type { HttpOptions } from "./streamable-http.ts";
import type { LinkTap } from "./tap.ts";
import { tooLarge } from "./too-large.ts";

export function sseLink(options: HttpOptions): OpenLink {
  return (events, signal) =>
    new Promise((resolve, reject) => {
      const url = new URL(options.url);
      const { credentials } = options;
      const { host, ...headers } = lowerCased(options.headers);
      const connections = new ConnectionPool({ url, connectMs: options.connectMs, host, proxy: proxyFor(url) });
      const target: RequestTarget = { url, method: "GET", redact: options.redact ?? ((text) => text) };
      const tap = options.tap?.();
      let link: SseLink | undefined;
      let isOver = false;
      const late = setTimeout(() => give("The server sent no endpoint event in time"), options.connectMs);
      const onAbort = (): void => give("The connection is not wanted any more");
      signal?.addEventListener("abort", onAbort, { once: true });
      const settled = (): void => {
        clearTimeout(late);
        signal?.removeEventListener("abort", onAbort);
      };
      const give = (message: string): void => fail(new GoblinError("BACKEND_UNAVAILABLE", message));
      const fail = (error: GoblinError): void => {
        isOver = true;
        settled();
        stream.abort();
        connections.destroy();
        reject(error);
      };
      const path = url.pathname + url.search;
      const handler: ExchangeHandler = {
        cap: options.messageCap,
        message: (_, bytes) => {
          if (tap?.isOn) tap.received(bytes, undefined);
          events.message(bytes, undefined);
        },
        other: (event, data) => {
          if (event !== "endpoint" || link) return;
          const endpoint = endpointOf(data, url);
          if (!endpoint) return give("The endpoint event names no address on the same origin");
          settled();
          const { messageCap: cap, linger, bytes, onLimit } = options;
          const limits = { cap, linger, bytes, onLimit };
          link = new SseLink(
            { connections, stream, headers, path: endpoint, ...limits, target, credentials, tap },
            events,
          );
          resolve(link);
        },
        overflow: (_, head, tail) => tooLarge(events, options, { id: idAtEdges(head, tail), head }),
        done: (outcome) => {
          const { error } = httpProblem(outcome, target);
          if (link) return link.lost(error);
          const { status, location } = outcome;
          const redirect = redirectOf({ status, location, method: "GET" }, url);
          if (redirect) options.onRedirect?.(redirect);
          fail(error);
        },
      };
      const begin = (wasRepeated: boolean): Exchange => {
        const header = credentials?.header;
        if (header !== undefined) headers["authorization"] = header;
        const request = {
          head: { method: "GET" as const, path, headers: { ...headers, accept: "text/event-stream" } },
        };
        if (!credentials) return exchange(connections, request, handler);
        const refused = refusable(credentials, handler, {
          header,
          wasRepeated,
          isWanted: () => !isOver,
          again: () => {
            stream = begin(true);
          },
          failed: (_, error) => fail(loginMissing(error)),
        });
        return exchange(connections, request, refused);
      };
      let stream = begin(false);
    });
}

/**
 * Returns the path to POST to. Another origin is rejected, because it would receive our
 * credentials.
 */
function endpointOf(data: Buffer, base: URL): string | undefined {
  try {
    const url = new URL(data.toString("utf8"), base);
    return url.origin === base.origin ? url.pathname + url.search : undefined;
  } catch {
    return undefined;
  }
}

interface SseParts {
  readonly connections: ConnectionPool;
  readonly stream: Exchange;
  readonly headers: Record<string, string>;
  readonly path: string;
  readonly cap: number;
  readonly bytes: ServerBytes;
  readonly onLimit: OnLimit;
  readonly linger: LingerOptions | undefined;
  readonly target: RequestTarget;
  readonly credentials: Credentials | undefined;
  readonly tap: LinkTap | undefined;
}

class SseLink implements Link {
  readonly #parts: SseParts;
  readonly #events: LinkEvents;
  readonly #lingering: Lingering;
  /** POSTs without a response, by message id. */
  readonly #posts = new SmallMap<number, Exchange>();
  #headers: Record<string, string>;
  #closed = false;

  constructor(parts: SseParts, events: LinkEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#lingering = new Lingering(() => this.#unwanted(), parts.linger);
    this.#headers = { ...parts.headers, "content-type": "application/json" };
  }

  send(text: string, options: SendOptions = {}, wasRepeated = false): void {
    if (this.#parts.tap?.isOn && !wasRepeated) this.#parts.tap.sent(text, options.call);
    if (this.#closed) return;
    const { id, accepted } = options;
    const { connections, path, bytes, credentials } = this.#parts;
    const refusal = bytes.refusal(text, this.#parts);
    if (refusal) {
      accepted?.();
      if (id === undefined) this.#events.problem(refusal.message);
      else this.#events.failed(id, refusal, "unsent");
      return;
    }
    const header = credentials?.header;
    if (header !== undefined) this.#headers["authorization"] = header;
    const request = { head: { method: "POST" as const, path, headers: this.#headers }, body: text };
    const handler = this.#postHandler(options);
    const posted = exchange(
      connections,
      request,
      credentials
        ? refusable(credentials, handler, {
            header,
            wasRepeated,
            isWanted: () => !this.#closed && (id === undefined || this.#events.waiting(id)),
            again: (outcome) => {
              this.#over(outcome, id);
              this.send(text, options, true);
            },
            failed: (outcome, error) => {
              this.#over(outcome, id);
              if (id === undefined) this.#events.problem(error.message);
              else this.#events.failed(id, error, "unsent");
              accepted?.();
              if (error.reason === "login") this.lost(loginMissing(error));
              else if (error.reason === "renew") this.lost(error, true);
            },
          })
        : handler,
    );
    bytes.sent(posted, text);
    if (id === undefined) this.#lingering.add(posted);
    else this.#posts.set(id, posted);
    this.#lingering.sent();
  }

  #postHandler({ id, accepted }: SendOptions): ExchangeHandler {
    return {
      cap: this.#parts.cap,
      message: () => {},
      overflow: () => {},
      done: (outcome) => {
        this.#over(outcome, id);
        accepted?.();
        if (this.#closed || (!outcome.error && outcome.status !== undefined && outcome.status < 300)) return;
        const { error, unsent } = httpProblem(outcome, { ...this.#parts.target, method: "POST" });
        if (id === undefined) this.#events.problem(error.message);
        else if (this.#events.waiting(id)) {
          this.#events.failed(id, error, unsent ? "unsent" : outcome.error ? "unknown" : "over");
        }
      },
    };
  }

  #over(posted: Exchange, id: number | undefined): void {
    this.#lingering.delete(posted);
    this.#parts.bytes.taken(posted);
    if (id !== undefined) this.#posts.delete(id);
  }

  drop(id: number): void {
    const posted = this.#posts.get(id);
    if (posted) this.#lingering.add(posted);
  }

  /** POSTs without a response whose messages no caller waits for. */
  #unwanted(): Exchange[] {
    return this.#posts.keys().flatMap((id) => (this.#events.waiting(id) ? [] : this.#posts.get(id)!));
  }

  established(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  lost(error: GoblinError, renew = false): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#lingering.close();
    this.#events.closed(error, renew);
    this.#parts.connections.destroy();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#lingering.close();
    this.#parts.stream.abort();
    this.#parts.connections.destroy();
  }
}
