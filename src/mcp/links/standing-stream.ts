/**
 * The standing GET stream of a Streamable HTTP link: it carries messages that belong to no request.
 *
 * Servers need not have one. A stream that ends is opened again after a pause, from the last event
 * that was seen. Nothing is reopened after `close`.
 */
import { type Exchange, type ExchangeHandler, exchange } from "../../lib/http-client/exchange.ts";
import type { ConnectionPool } from "../../lib/http-client/pool.ts";
import type { HttpHead } from "../../lib/http-client/request-head.ts";
import { Reopening } from "../../lib/timing/reopening.ts";
import { isGone } from "./http-problem.ts";

export interface StandingStreamOptions {
  readonly connections: ConnectionPool;
  /** Builds the GET that resumes after this event. */
  readonly request: (lastEventId: string | undefined) => { readonly head: HttpHead };
  readonly handler: Pick<ExchangeHandler, "cap" | "message" | "overflow" | "budget" | "crowded">;
  /** Messages may have been missed while the stream was closed. */
  readonly missed: () => void;
  /** The server has lost the session. */
  readonly forgotten: () => void;
  readonly lost: (outcome: Exchange) => void;
}

export class StandingStream {
  readonly #options: StandingStreamOptions;
  readonly #pause = new Reopening();
  #exchange: Exchange | undefined;
  #wasOpen = false;
  #lastEventId: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: StandingStreamOptions) {
    this.#options = options;
  }

  open(): void {
    if (this.#closed) return;
    const { connections, request, handler } = this.#options;
    this.#pause.opened();
    this.#exchange = exchange(connections, request(this.#lastEventId), {
      ...handler,
      started: ({ status = 0 }) => this.#started(status),
      done: (outcome) => this.#ended(outcome),
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#exchange?.abort();
  }

  #started(status: number): void {
    if (status >= 300) return;
    // Without event ids the server cannot replay messages that it sent while the stream was closed.
    if (this.#wasOpen && this.#lastEventId === undefined) this.#options.missed();
    this.#wasOpen = true;
  }

  #ended(outcome: Exchange): void {
    this.#exchange = undefined;
    if (this.#closed) return;
    this.#lastEventId = outcome.lastEventId ?? this.#lastEventId;
    if (this.#wasOpen && outcome.status === 404) return this.#options.forgotten();
    // Servers without a standing stream should send 405; some send other errors. Calls work without
    // the stream.
    if (!this.#wasOpen && outcome.status !== undefined) return;
    if (isGone(outcome)) return this.#options.lost(outcome);
    this.#timer = setTimeout(() => this.open(), this.#pause.afterEnd(outcome.retryMs));
  }
}
