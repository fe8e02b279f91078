/**
 * Closes exchanges with one server that no caller waits for: messages without an answer, and
 * streams that the server keeps open after the answer. An exchange is closed when it is idle for
 * too long, when it is too old, or when there are too many.
 *
 * One timer checks all of them at intervals, so a stream that ends soon after its answer costs
 * nothing.
 */

import type { Exchange } from "../../lib/http-client/exchange.ts";
import { SmallMap } from "../../lib/structures/small-map.ts";

export interface LingerOptions {
  /** How long an exchange may stay open without receiving data. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
const MAX_MS = 600_000;
const MAX_LINGERING = 64;

interface Watched {
  readonly since: number;
  received: number;
  heardAt: number;
}

export class Lingering {
  readonly #idleMs: number;
  readonly #answered: () => readonly Exchange[];
  readonly #watched = new SmallMap<Exchange, Watched>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  /** `answered`: returns the open exchanges that no caller waits for. */
  constructor(answered: () => readonly Exchange[], { idleMs = IDLE_MS }: LingerOptions = {}) {
    this.#idleMs = idleMs;
    this.#answered = answered;
    this.#timer = setInterval(() => this.#look(), idleMs / 3).unref();
  }

  /**
   * Counts a request. Every `MAX_LINGERING` requests, answered exchanges are watched without
   * waiting for the timer.
   */
  sent(): void {
    if (++this.#sent % MAX_LINGERING === 0) for (const exchange of this.#answered()) this.add(exchange);
  }

  add(exchange: Exchange): void {
    if (this.#watched.has(exchange)) return;
    const now = performance.now();
    this.#watched.set(exchange, { since: now, received: exchange.received, heardAt: now });
    if (this.#watched.size > MAX_LINGERING) this.#end(this.#watched.keys()[0]!);
  }

  delete(exchange: Exchange): void {
    this.#watched.delete(exchange);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
  }

  #look(): void {
    for (const exchange of this.#answered()) this.add(exchange);
    const now = performance.now();
    for (const exchange of this.#watched.keys()) {
      const watched = this.#watched.get(exchange)!;
      if (exchange.received !== watched.received) {
        watched.received = exchange.received;
        watched.heardAt = now;
      }
      if (now - watched.heardAt >= this.#idleMs || now - watched.since >= MAX_MS) this.#end(exchange);
    }
  }

  #end(exchange: Exchange): void {
    this.delete(exchange);
    exchange.abort("nobody waits for it any more");
  }
}
