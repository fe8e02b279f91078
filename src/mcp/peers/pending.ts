/**
 * The requests that wait for a server's answer, by the id they were sent with. It also decides
 * which call a message without a stream belongs to.
 *
 * Every request is answered once: by the server, by its cancellation, or by the end of the
 * connection. Ids come from one counter per connection and also serve as progress tokens, so
 * clients' ids never collide. A request that was abandoned (cancelled, or its stream broke) counts
 * as in flight until the server is done with it. Its late messages must never reach another client.
 */

import { SmallMap } from "../../lib/structures/small-map.ts";
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import type { Shape } from "../protocol/frame.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { logText } from "../protocol/log-text.ts";
import type { Audience, Origin } from "./peer.ts";

interface Entry {
  readonly flight: Flight | undefined;
  readonly resolve: (answer: Answer) => void;
}

/** A call that was abandoned. Only this much is kept, because params may be large. */
interface Abandoned {
  readonly party: string | undefined;
  readonly until: number;
}

const MAX_ABANDONED = 1000;
/** How long a server may keep working on a call that was abandoned. */
const ABANDONED_MS = 10 * 60_000;

export class Pending {
  readonly #entries = new SmallMap<number, Entry>();
  /** Oldest first. */
  readonly #abandoned = new Map<number, Abandoned>();
  /** Until this time the server may still send messages for abandoned calls that were evicted. */
  #forgottenUntil = 0;
  /** The only party that has used the connection; null if there were several. */
  #soleUser: string | null | undefined;
  #lastId = 0;

  get size(): number {
    return this.#entries.size;
  }

  nextId(): number {
    return ++this.#lastId;
  }

  add(id: number, flight: Flight | undefined, resolve: (answer: Answer) => void): void {
    this.#entries.set(id, { flight, resolve });
    if (flight) flight.sentId = id;
    const party = flight?.call.client.party;
    if (party !== undefined && this.#soleUser !== party) this.#soleUser = this.#soleUser === undefined ? party : null;
  }

  has(id: number): boolean {
    return this.#entries.has(id);
  }

  /**
   * Returns the flight for one of our progress tokens. A server may send the number as a string.
   */
  flightOf(token: unknown): Flight | undefined {
    const isToken = typeof token === "number" || typeof token === "string";
    return isToken ? this.#entries.get(Number(token))?.flight : undefined;
  }

  /**
   * Answers a request. Returns false if it is not waiting. `message`: what the server sent, if that
   * is the answer alone.
   */
  settle(id: number, answer: Answer, message?: Buffer, shape?: Shape): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    const { flight } = entry;
    if (message && flight?.sentId === id) flight.call.witness?.answered(message, answer, shape);
    this.#entries.delete(id);
    entry.resolve(answer);
    return true;
  }

  /**
   * Answers a request on the gateway's side while the server may still work on it. Returns false if
   * the request is not waiting.
   */
  abandon(id: number, answer: Answer): boolean {
    const party = this.#entries.get(id)?.flight?.call.client.party;
    if (!this.settle(id, answer)) return false;
    this.#abandoned.set(id, { party, until: Date.now() + ABANDONED_MS });
    if (this.#abandoned.size > MAX_ABANDONED) this.#forgetOldest();
    return true;
  }

  /**
   * Returns the problem with an answer that no request waits for; undefined if the request was
   * abandoned.
   */
  unexpectedAnswerReason(id: unknown): string | undefined {
    if (typeof id === "number" && this.#abandoned.delete(id)) return undefined;
    const wasSent = typeof id === "number" && id > 0 && id <= this.#lastId;
    return wasSent
      ? `A second answer to one request (id ${logText(id)})`
      : `An answer to a request that was never sent (id ${logText(id)})`;
  }

  failAll(error: GoblinError): void {
    const answer = failure(error);
    for (const id of this.#entries.keys()) this.settle(id, answer);
  }

  /**
   * Returns the flights whose server may be waiting for the answer to a question of this origin.
   */
  waitingFor(origin: Origin, stream: number | undefined): readonly Flight[] {
    if (typeof origin !== "object") return [];
    if (stream === undefined) return this.#entries.values().flatMap(({ flight }) => flight ?? []);
    const flight = this.#entries.get(stream)?.flight;
    return flight?.call === origin ? [flight] : [];
  }

  /**
   * Returns the origin of a message without a stream: the newest call, if all calls in flight
   * belong to one party. Calls that were abandoned count too.
   */
  origin(): Origin {
    let newest: Call | undefined;
    let party: string | undefined;
    for (const { flight } of this.#entries.values()) {
      if (!flight) continue;
      const { client } = flight.call;
      if (party !== undefined && party !== client.party) return "several";
      ({ party } = client);
      newest = flight.call;
    }
    if (this.#soleUser !== null) return newest ?? "none";
    const now = Date.now();
    if (now < this.#forgottenUntil) return "several";
    for (const abandoned of this.#abandoned.values()) {
      if (abandoned.party === undefined || abandoned.until <= now) continue;
      if (party !== undefined && party !== abandoned.party) return "several";
      ({ party } = abandoned);
    }
    return newest ?? "none";
  }

  /** Whether a question without a stream may be of a call that was abandoned. */
  get hasAbandoned(): boolean {
    const now = Date.now();
    if (now < this.#forgottenUntil) return true;
    for (const { party, until } of this.#abandoned.values()) if (party !== undefined && until > now) return true;
    return false;
  }

  /**
   * Like `origin`, for questions. A client without a session is asked in the answer to one call, so
   * that call must be the only one that the question can belong to.
   */
  asker(): Origin {
    const origin = this.origin();
    if (typeof origin !== "object" || origin.client.hasSession) return origin;
    let calls = 0;
    for (const { flight } of this.#entries.values()) if (flight) calls++;
    return calls > 1 ? "several" : origin;
  }

  /**
   * Like `origin`, for log messages. If no call is in flight, they go to the party that alone has
   * used the connection.
   */
  audience(): Audience {
    const origin = this.origin();
    if (origin !== "none" || this.#soleUser === undefined) return origin;
    return this.#soleUser === null ? "several" : { party: this.#soleUser };
  }

  #forgetOldest(): void {
    for (const [id, { party, until }] of this.#abandoned) {
      this.#abandoned.delete(id);
      if (party !== undefined) this.#forgottenUntil = Math.max(this.#forgottenUntil, until);
      return;
    }
  }
}
