/**
 * The requests that wait for a server's answer, by the id they were sent under, and whose message
 * it is that comes without a hint.
 *
 * Every request that is added is answered once: by the server, by its own cancellation, or by the
 * end of the connection. Ids are numbers of our own, one counter for each connection, and serve as
 * progress tokens too; so no two clients can meet in them. A request that was given up counts as
 * under way until the server has answered it or can be supposed to be done with it: what a server
 * still says for it must not reach whoever comes next.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { logText } from "../protocol/log-text.ts";
import { SmallMap } from "../structures/small-map.ts";
import type { Audience, Origin } from "./peer.ts";

interface Entry {
  readonly flight: Flight | undefined;
  readonly resolve: (answer: Answer) => void;
}

/** Of a call that was given up only this is kept: its params may be large. */
interface GivenUp {
  readonly party: string | undefined;
  readonly until: number;
}

const MAX_GIVEN_UP = 1000;
/** For so long a server may go on with a call that nobody waits for. */
const GIVEN_UP_MS = 10 * 60_000;

export class Pending {
  readonly #entries = new SmallMap<number, Entry>();
  /** The oldest is first. */
  readonly #givenUp = new Map<number, GivenUp>();
  /** Until then the server may speak for calls that had to be forgotten. */
  #forgottenUntil = 0;
  /** The party that all calls so far were of; null: there were several. */
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
    const party = flight?.call.client.party;
    if (party !== undefined && this.#soleUser !== party) this.#soleUser = this.#soleUser === undefined ? party : null;
  }

  has(id: number): boolean {
    return this.#entries.has(id);
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
   * Ends the request with an answer of our own; the server may still work on it, and answer. False
   * when no such request waits.
   */
  giveUp(id: number, answer: Answer): boolean {
    const party = this.#entries.get(id)?.flight?.call.client.party;
    if (!this.settle(id, answer)) return false;
    this.#givenUp.set(id, { party, until: Date.now() + GIVEN_UP_MS });
    if (this.#givenUp.size > MAX_GIVEN_UP) this.#forgetOldest();
    return true;
  }

  /** What is odd about an answer that nobody waits for; nothing, if its request was given up. */
  unexpectedAnswerReason(id: unknown): string | undefined {
    if (typeof id === "number" && this.#givenUp.delete(id)) return undefined;
    const wasSent = typeof id === "number" && id > 0 && id <= this.#lastId;
    return wasSent
      ? `A second answer to one request (id ${logText(id)})`
      : `An answer to a request that was never sent (id ${logText(id)})`;
  }

  failAll(error: GoblinError): void {
    const answer = failure(error);
    for (const id of this.#entries.keys()) this.settle(id, answer);
  }

  /** The flights whose server may be waiting for the answer to a question of this origin. */
  waitingFor(origin: Origin, stream: number | undefined): readonly Flight[] {
    if (typeof origin !== "object") return [];
    if (stream === undefined) return this.#entries.values().flatMap(({ flight }) => flight ?? []);
    const flight = this.#entries.get(stream)?.flight;
    return flight?.call === origin ? [flight] : [];
  }

  /**
   * Whose message it must be when it came with no hint: the newest call's, if all calls under way
   * are one party's.
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
    for (const givenUp of this.#givenUp.values()) {
      if (givenUp.party === undefined || givenUp.until <= now) continue;
      if (party !== undefined && party !== givenUp.party) return "several";
      ({ party } = givenUp);
    }
    return newest ?? "none";
  }

  /**
   * The same for what is said outside of any call: it may be for whoever used the connection, if
   * that is one party.
   */
  audience(): Audience {
    const origin = this.origin();
    if (origin !== "none" || this.#soleUser === undefined) return origin;
    return this.#soleUser === null ? "several" : { party: this.#soleUser };
  }

  #forgetOldest(): void {
    for (const [id, { party, until }] of this.#givenUp) {
      this.#givenUp.delete(id);
      if (party !== undefined) this.#forgottenUntil = Math.max(this.#forgottenUntil, until);
      return;
    }
  }
}
