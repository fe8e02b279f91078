/**
 * Keeps the servers' subscriptions in line with those of the clients.
 *
 * The server has one subscription for each topic, however many clients share it: the first client
 * subscribes, the last one unsubscribes. Steps for one topic run one after the other, so a quick
 * unsubscribe never overtakes its subscribe. After a reconnect, the gateway subscribes again and
 * notifies every subscriber that may have missed an update once. If a server does not support
 * subscriptions, only the gateway tracks them; its updates are still delivered.
 */
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../../config/live-config.ts";
import { KeyedPace } from "../../lib/timing/keyed-pace.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { principalOf } from "../../upstream/catalog/views/own-lists.ts";
import type { ResourceUpdate, Subscribers } from "../../upstream/servers/events.ts";
import { SESSIONS } from "../../upstream/servers/owner.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { SessionStore } from "./store.ts";
import { SubscriptionBook, type SubscriptionRecord, type Topic } from "./subscription-book.ts";

export interface SubscriptionEvents {
  added: [record: SubscriptionRecord];
  removed: [record: SubscriptionRecord];
}

export interface SubscriptionParts {
  readonly servers: Pick<
    Servers,
    "on" | "supportsSubscribe" | "carrierOf" | "isUsable" | "hasOwned" | "forward" | "own" | "open"
  >;
  readonly sessions: Pick<SessionStore, "on" | "get">;
  readonly config: Pick<LiveConfig, "current">;
  readonly onLimit: OnLimit;
}

type Method = "resources/subscribe" | "resources/unsubscribe";

/** All streams of one account without a session may hold as much as this many of them. */
const STREAMS = 10;

const OK: Answer = { ok: true, raw: "{}" };

export class Subscriptions extends EventEmitter<SubscriptionEvents> implements Subscribers {
  readonly #parts: SubscriptionParts;
  readonly #book: SubscriptionBook;
  /**
   * Subscribers that may have missed an update. They are notified once the server has their
   * subscription again.
   */
  readonly #stale = new Set<SubscriptionRecord>();
  /** The connections that reported an update a moment ago. */
  readonly #paces = new Map<string, KeyedPace>();

  constructor(parts: SubscriptionParts) {
    super();
    this.#parts = parts;
    this.#book = new SubscriptionBook((record) => parts.servers.carrierOf(record.serverId, record));
    const { servers, sessions } = parts;
    servers.on("updated", (update) => this.#updated(update));
    servers.on("ownRestored", (serverId, ownerKey) => void this.#ownRestored(serverId, ownerKey));
    servers.on("removed", (serverId) => this.#dropServer(serverId));
    servers.on("status", (serverId) => {
      if (servers.isUsable(serverId)) void this.#ready(serverId);
    });
    sessions.on("ended", ({ key }) => this.dropClient(key));
  }

  get size(): number {
    return this.#book.size;
  }

  records(): SubscriptionRecord[] {
    return this.#book.records();
  }

  /** Returns the client's subscription under this form of a URI. */
  find(clientKey: string, form: string): SubscriptionRecord | undefined {
    return this.#book.findForm(clientKey, form);
  }

  async subscribe(record: SubscriptionRecord, flight: Flight | undefined): Promise<Answer> {
    const { clientKey, serverId, uri, account, principal } = record;
    const opening = this.#parts.servers.open(serverId, principal);
    if (opening) await opening;
    const known = this.#book.find(clientKey, serverId, uri);
    const value = this.#parts.config.current.limits.subscriptionsPerClient;
    const isFull = this.#book.countOf(clientKey) >= value;
    const isAccountFull = account !== undefined && this.#book.countOfAccount(account) >= value * STREAMS;
    if (!known && (isFull || isAccountFull)) {
      this.#parts.onLimit("subscriptionsPerClient");
      const what = isFull
        ? "this client holds too many subscriptions"
        : `the streams of this token or address together hold ${STREAMS} times as many subscriptions as one may`;
      const advice = "unsubscribe from one first";
      return failure(limitExceeded({ limit: "subscriptionsPerClient", value, what, advice }));
    }
    const topic = this.#put(record, known);
    const answer = await this.#step(topic, () => this.#ensureActive(topic, flight));
    if (answer.ok) return OK;
    if (topic.records.get(clientKey) === record) this.#take(record);
    this.#book.forgetIdle(topic);
    return answer;
  }

  async unsubscribe(
    { clientKey, serverId, uri }: Pick<SubscriptionRecord, "clientKey" | "serverId" | "uri">,
    flight: Flight | undefined,
  ): Promise<Answer> {
    const record = this.#book.find(clientKey, serverId, uri);
    const topic = record && this.#take(record);
    if (!topic) return OK;
    const answer = await this.#step(topic, () => this.#ensureInactive(topic, flight));
    // A lost connection took the subscription with it.
    return !answer.ok && answer.symbol === "BACKEND_UNAVAILABLE" ? OK : answer;
  }

  /** Resumes a subscription of an earlier process. It stays even if the server refuses it. */
  async resume(record: SubscriptionRecord): Promise<void> {
    if (this.#book.find(record.clientKey, record.serverId, record.uri)) return;
    const topic = this.#put(record, undefined);
    this.#stale.add(record);
    const { serverId, principal } = record;
    if (this.#parts.servers.isUsable(serverId, principal)) await this.#resync(topic);
    else await this.#parts.servers.open(serverId, principal);
  }

  /** Ends all subscriptions of a client that has disconnected. */
  dropClient(clientKey: string): void {
    for (const record of this.#book.recordsOf(clientKey)) {
      const topic = this.#take(record);
      if (topic) void this.#step(topic, () => this.#ensureInactive(topic, undefined));
    }
  }

  /**
   * Subscribes again after a reconnect. Notifies each subscriber once, since it may have missed an
   * update. `ownerKey`: the principal whose connection it is, if it has its own.
   */
  async restored(serverId: string, ownerKey?: string): Promise<void> {
    if (ownerKey !== undefined) {
      this.moved(serverId);
      return this.#renew(this.#book.ownedTopics(serverId, ownerKey));
    }
    this.#book.regroup(serverId);
    const isKept = ({ owner, active }: Topic): boolean =>
      active && owner !== undefined && this.#parts.servers.hasOwned(serverId, owner);
    await this.#renew(this.#book.topicsOf(serverId).filter((topic) => !isKept(topic)));
  }

  /** Subscribes on the connection that the clients use now. They missed nothing. */
  moved(serverId: string): void {
    if (!this.#book.regroup(serverId)) return;
    for (const topic of this.#book.topicsOf(serverId))
      void this.#step(topic, () => this.#ensureActive(topic, undefined));
  }

  wantsConnection(serverId: string, ownerKey: string): boolean {
    return this.#book.ownedTopics(serverId, ownerKey).length > 0;
  }

  #updated({ serverId, uri, params, ownerKey }: ResourceUpdate): void {
    if (this.#book.topicsFor(serverId, uri, ownerKey).next().done) return;
    const key = `${serverId} ${ownerKey ?? ""}`;
    let pace = this.#paces.get(key);
    if (!pace) {
      pace = new KeyedPace({
        pass: (updated, newest) => this.#tell({ serverId, uri: updated, params: newest, ownerKey }),
        idle: () => this.#paces.delete(key),
      });
      this.#paces.set(key, pace);
    }
    pace.push(uri, params);
  }

  /** Notifies each client once that subscribed to the resource or to one of its parents. */
  #tell({ serverId, uri, params, ownerKey }: ResourceUpdate): void {
    const told = new Set<string>();
    for (const topic of this.#book.topicsFor(serverId, uri, ownerKey)) {
      for (const record of topic.records.values()) {
        if (told.has(record.clientKey)) continue;
        told.add(record.clientKey);
        record.deliver(uri, params);
      }
    }
  }

  async #ownRestored(serverId: string, clientKey: string): Promise<void> {
    const topics = this.#book.ownedTopics(serverId, clientKey);
    if (this.#parts.servers.isUsable(serverId)) return this.#renew(topics);
    // The server's capabilities are known once it is ready; `restored` or `#ready` continues then.
    for (const topic of topics) this.#markStale(topic);
  }

  /** Activates the subscriptions that were made while the server was not ready. */
  async #ready(serverId: string): Promise<void> {
    if (this.#stale.size === 0) return;
    await Promise.all(this.#book.topicsOf(serverId).map((topic) => this.#resync(topic)));
  }

  #dropServer(serverId: string): void {
    for (const topic of this.#book.topicsOf(serverId)) {
      for (const record of [...topic.records.values()]) this.#take(record);
    }
    this.#book.dropServer(serverId);
  }

  async #renew(topics: readonly Topic[]): Promise<void> {
    await Promise.all(
      topics.map((topic) => {
        this.#markStale(topic);
        return this.#resync(topic);
      }),
    );
  }

  #markStale(topic: Topic): void {
    topic.active = false;
    for (const record of topic.records.values()) this.#stale.add(record);
  }

  async #resync(topic: Topic): Promise<void> {
    await this.#step(topic, () => this.#ensureActive(topic, undefined));
    for (const record of topic.records.values()) {
      if (this.#stale.delete(record)) record.deliver(topic.uri, JSON.stringify({ uri: topic.uri }));
    }
  }

  async #ensureActive(topic: Topic, flight: Flight | undefined): Promise<Answer> {
    const [record] = topic.records.values();
    if (topic.active || !record) return OK;
    if (!this.#parts.servers.supportsSubscribe(topic.serverId, record.principal)) return OK;
    const answer = await this.#ask("resources/subscribe", topic, flight);
    if (answer.ok) topic.active = true;
    return answer;
  }

  async #ensureInactive(topic: Topic, flight: Flight | undefined): Promise<Answer> {
    if (topic.records.size > 0) return OK;
    const wasActive = topic.active;
    topic.active = false;
    // A client's own connection closes with the client; only a shared connection needs the request.
    const principal = topic.owner && principalOf(topic.owner);
    const isCommon =
      topic.owner === undefined || (principal && this.#parts.servers.isUsable(topic.serverId, principal));
    const isTold = wasActive && (flight !== undefined || isCommon);
    const answer = isTold ? await this.#ask("resources/unsubscribe", topic, flight) : OK;
    this.#book.forgetIdle(topic);
    return answer;
  }

  /** Sends a shared topic as the gateway's own request, and a client's own one as its client's. */
  #ask(method: Method, { serverId, uri, owner }: Topic, flight: Flight | undefined): Promise<Answer> {
    const { servers, sessions } = this.#parts;
    const params = JSON.stringify({ uri });
    if (owner === undefined || principalOf(owner) !== undefined)
      return servers.own(serverId, { method, params }, owner);
    return flight
      ? servers.forward(serverId, method, params, flight)
      : servers.own(serverId, { method, params }, owner === SESSIONS ? SESSIONS : sessions.get(owner));
  }

  #step(topic: Topic, step: () => Promise<Answer>): Promise<Answer> {
    const run = topic.last.then(step, step).catch((error: unknown) => failure(error));
    topic.last = run;
    return run;
  }

  #put(record: SubscriptionRecord, known: SubscriptionRecord | undefined): Topic {
    const topic = this.#book.put(record, known);
    if (known) this.#stale.delete(known);
    this.emit("added", record);
    return topic;
  }

  #take(record: SubscriptionRecord): Topic | undefined {
    const topic = this.#book.take(record);
    this.#stale.delete(record);
    this.emit("removed", record);
    return topic;
  }
}
