/**
 * The open exchanges of a link, by the ids of their requests. Those that no caller waits for (the
 * answer has arrived, or the message needed none) are closed when they linger.
 */
import type { Exchange } from "../../../lib/http-client/exchange.ts";
import { SmallMap } from "../../../lib/structures/small-map.ts";
import { Lingering, type LingerOptions } from "../lingering.ts";

export class OpenExchanges {
  readonly #requests = new SmallMap<number, Exchange>();
  readonly #lingering: Lingering;
  readonly #isWaiting: (id: number) => boolean;

  constructor(isWaiting: (id: number) => boolean, linger: LingerOptions | undefined) {
    this.#isWaiting = isWaiting;
    this.#lingering = new Lingering(() => this.#answered(), linger);
  }

  /** The number of requests, without other messages. */
  get size(): number {
    return this.#requests.size;
  }

  add(exchange: Exchange): void {
    const { id } = exchange;
    if (id === undefined) this.#lingering.add(exchange);
    else if (this.#isWaiting(id)) this.#requests.set(id, exchange);
    this.#lingering.sent();
  }

  /** A stream that was opened again carries the answer of this request from now on. */
  resumed(id: number, exchange: Exchange): void {
    this.#requests.set(id, exchange);
  }

  delete(exchange: Exchange): void {
    this.#lingering.delete(exchange);
    if (exchange.id !== undefined) this.#requests.delete(exchange.id);
  }

  /** No caller wants the answer of this request any more. */
  drop(id: number): void {
    const dropped = this.#requests.get(id);
    this.#requests.delete(id);
    dropped?.abort();
  }

  /** Ends the watch for exchanges that linger. The open ones go on. */
  stop(): void {
    this.#lingering.close();
  }

  abortAll(): void {
    for (const open of this.#requests.values()) open.abort();
    this.#requests.clear();
  }

  /** Returns streams that delivered their answer and are still open. */
  #answered(): Exchange[] {
    return this.#requests.keys().flatMap((id) => (this.#isWaiting(id) ? [] : this.#requests.get(id)!));
  }
}
