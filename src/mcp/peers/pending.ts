/**
 * The requests that wait for a server's answer, by the id they were sent with. It also decides
 * which call a message without a stream belongs to.
 *
 * Every request is answered once: by the server, by its cancellation, or by the end of the
 * connection. Ids come from one counter per connection and also serve as progress tokens, so
 * clients' ids never collide.
 *
 * A server must not answer a request that was cancelled, so nothing says when it has stopped work
 * on one that was abandoned (cancelled, or its stream broke). Its late messages must never reach
 * another client. So an abandoned request counts as in flight until the server answers it: for ten
 * minutes against calls of other accounts, and for a few seconds against other clients of the same
 * account. Without tokens, one address is one account.
 */

import { SmallMap } from "../../lib/structures/small-map.ts";
import type { Call, Client } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Flight } from "../protocol/flight.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { knownClient } from "../protocol/known-client.ts";
import { logText } from "../protocol/log-text.ts";
import type { Audience, Origin } from "./peer.ts";

interface Entry {
  readonly flight: Flight | undefined;
  readonly resolve: (answer: Answer) => void;
}

/** A call that was abandoned. Only this much is kept, because params may be large. */
interface Abandoned {
  /** Undefined: the request was the gateway's own. */
  readonly sender: Sender | undefined;
  readonly at: number;
}

interface Sender {
  readonly account: string;
  /** Tells the clients of one account apart, as far as they can be. */
  readonly client: string;
}

const MAX_ABANDONED = 1000;
const MAX_FORGOTTEN = 100;
/** How long a server may keep working on a call that was abandoned. */
const ABANDONED_MS = 10 * 60_000;
/** How long after that its messages may still be meant for another client of the same account. */
const SAME_ACCOUNT_MS = 5000;

export class Pending {
  readonly #entries = new SmallMap<number, Entry>();
  /** Oldest first. */
  readonly #abandoned = new Map<number, Abandoned>();
  /** The accounts of abandoned calls that were evicted, and when the newest one was abandoned. */
  readonly #forgotten = new Map<string, number>();
  /** When the newest one of an account that is not even among those was abandoned. */
  #lostAt = Number.NEGATIVE_INFINITY;
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

  /** Answers a request. Returns false if it is not waiting. */
  settle(id: number, answer: Answer): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    this.#entries.delete(id);
    entry.resolve(answer);
    return true;
  }

  /**
   * Answers a request on the gateway's side while the server may still work on it. Returns false if
   * the request is not waiting.
   */
  abandon(id: number, answer: Answer): boolean {
    const client = this.#entries.get(id)?.flight?.call.client;
    if (!this.settle(id, answer)) return false;
    this.#abandoned.set(id, { sender: client && senderOf(client), at: Date.now() });
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
   * belong to one party, and no abandoned one can be meant.
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
    if (!newest) return "none";
    return this.#soleUser === null && this.#isAbandonedByOthers(newest) ? "several" : newest;
  }

  /** Whether a message without a stream may be meant for another client than this one. */
  #isAbandonedByOthers({ client }: Call): boolean {
    const now = Date.now();
    if (now < this.#lostAt + ABANDONED_MS) return true;
    if (this.#abandoned.size === 0 && this.#forgotten.size === 0) return false;
    const asking = senderOf(client);
    for (const { sender, at } of this.#abandoned.values()) {
      if (!sender || sender.client === asking.client) continue;
      if (now < at + (sender.account === asking.account ? SAME_ACCOUNT_MS : ABANDONED_MS)) return true;
    }
    for (const [account, at] of this.#forgotten)
      if (now < at + (account === asking.account ? SAME_ACCOUNT_MS : ABANDONED_MS)) return true;
    return false;
  }

  /** Whether a question without a stream may be of a call that was abandoned. */
  get hasAbandoned(): boolean {
    const isRecent = (at: number): boolean => Date.now() < at + ABANDONED_MS;
    if (isRecent(this.#lostAt) || [...this.#forgotten.values()].some(isRecent)) return true;
    for (const { sender, at } of this.#abandoned.values()) if (sender && isRecent(at)) return true;
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
    for (const [id, { sender, at }] of this.#abandoned) {
      this.#abandoned.delete(id);
      if (sender) this.#forgetAccount(sender.account, at);
      return;
    }
  }

  #forgetAccount(account: string, at: number): void {
    // The newest last.
    this.#forgotten.delete(account);
    this.#forgotten.set(account, at);
    if (this.#forgotten.size <= MAX_FORGOTTEN) return;
    const [oldest, since] = this.#forgotten.entries().next().value!;
    this.#forgotten.delete(oldest);
    this.#lostAt = Math.max(this.#lostAt, since);
  }
}

function senderOf(client: Client): Sender {
  return { account: client.account, client: knownClient(client) };
}
