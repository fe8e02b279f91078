/**
 * The exchanges with one server that nobody waits for any more: messages that need no answer, and
 * streams that the server keeps open behind their answer. Each has an end: when nothing came on it
 * for a while, after a longer while in any case, and when there are too many.
 *
 * Looked after now and then, by one timer for all of them, so that a stream that ends soon after
 * its answer costs nothing.
 */

import type { Exchange } from "../http-client/exchange.ts";
import { SmallMap } from "../structures/small-map.ts";

export interface LingerOptions {
  /** How long one may stay on which nothing comes. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
const LONGEST_MS = 600_000;
const MOST = 64;

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

  /** `answered`: the exchanges that are open though nobody waits for them any more. */
  constructor(answered: () => readonly Exchange[], { idleMs = IDLE_MS }: LingerOptions = {}) {
    this.#idleMs = idleMs;
    this.#answered = answered;
    this.#timer = setInterval(() => this.#look(), idleMs / 3).unref();
  }

  /** One more request was sent. */
  sent(): void {
    if (++this.#sent % MOST === 0) for (const exchange of this.#answered()) this.add(exchange);
  }

  add(exchange: Exchange): void {
    if (this.#watched.has(exchange)) return;
    const now = performance.now();
    this.#watched.set(exchange, { since: now, received: exchange.received, heardAt: now });
    if (this.#watched.size > MOST) this.#end(this.#watched.keys()[0]!);
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
      if (now - watched.heardAt >= this.#idleMs || now - watched.since >= LONGEST_MS) this.#end(exchange);
    }
  }

  #end(exchange: Exchange): void {
    this.delete(exchange);
    exchange.abort("nobody waits for it any more");
  }
}
