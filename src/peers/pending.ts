/**
 * The requests that wait for a server's answer, by the id they were sent under.
 *
 * Every request that is added is answered once: by the server, by its own cancellation, or by the
 * end of the connection. Ids are numbers of our own, one counter for each connection, and serve as
 * progress tokens too; so no two clients can meet in them.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { toDisplayText } from "../protocol/json-text.ts";
import { SmallMap } from "../structures/small-map.ts";
import type { Origin } from "./peer.ts";

interface Entry {
  readonly flight: Flight | undefined;
  readonly resolve: (answer: Answer) => void;
}

/** Late answers are told from second ones for this many requests. */
const MAX_GIVEN_UP = 1000;

export class Pending {
  readonly #entries = new SmallMap<number, Entry>();
  readonly #givenUp = new Set<number>();
  #lastId = 0;

  get size(): number {
    return this.#entries.size;
  }

  nextId(): number {
    return ++this.#lastId;
  }

  add(id: number, flight: Flight | undefined, resolve: (answer: Answer) => void): void {
    this.#entries.set(id, { flight, resolve });
  }

  has(id: number): boolean {
    return this.#entries.has(id);
  }

  call(id: number): Call | undefined {
    return this.#entries.get(id)?.flight?.call;
  }

  /** The flight that a progress token of ours stands for; a server may write the number as text. */
  flightOf(token: unknown): Flight | undefined {
    const isToken = typeof token === "number" || typeof token === "string";
    return isToken ? this.#entries.get(Number(token))?.flight : undefined;
  }

  /** False when no such request waits. */
  settle(id: number, answer: Answer): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    this.#entries.delete(id);
    entry.resolve(answer);
    return true;
  }

  /**
   * Ends the request with an answer of our own; the server's may still come. False when no such
   * request waits.
   */
  giveUp(id: number, answer: Answer): boolean {
    if (!this.settle(id, answer)) return false;
    this.#givenUp.add(id);
    if (this.#givenUp.size > MAX_GIVEN_UP) for (const oldest of this.#givenUp) return this.#givenUp.delete(oldest);
    return true;
  }

  /** What is odd about an answer that nobody waits for; nothing, if its request was given up. */
  unexpectedAnswerReason(id: unknown): string | undefined {
    if (typeof id === "number" && this.#givenUp.delete(id)) return undefined;
    const wasSent = typeof id === "number" && id > 0 && id <= this.#lastId;
    return wasSent
      ? `A second answer to one request (id ${toDisplayText(id)})`
      : `An answer to a request that was never sent (id ${toDisplayText(id)})`;
  }

  failAll(error: GoblinError): void {
    const answer = failure(error);
    for (const id of this.#entries.keys()) this.settle(id, answer);
  }

  /**
   * The calls that may be waiting for the answer to a question: the one whose stream it came on,
   * else all, if they are one client's.
   */
  askedFor(stream: number | undefined): readonly Flight[] {
    const flight = stream === undefined ? undefined : this.#entries.get(stream)?.flight;
    if (flight) return [flight];
    return typeof this.origin() === "object" ? this.#entries.values().flatMap((entry) => entry.flight ?? []) : [];
  }

  /**
   * Whose message it must be when it came with no hint: the newest call's, if all calls under way
   * are one client's.
   */
  origin(): Origin {
    let found: Call | undefined;
    for (const { flight } of this.#entries.values()) {
      if (!flight) continue;
      const { call } = flight;
      if (found && found.client.key !== call.client.key) return "several";
      found = call;
    }
    return found ?? "none";
  }
}
