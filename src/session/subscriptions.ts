/**
 * Who wants to hear of which resource.
 *
 * One record for each (client, server, URI), with the form of the URI that the client used and the
 * time. At the server there is one subscription for each (server, URI), however many clients share
 * it: the first one subscribes, the last one unsubscribes. With connections that are not shared,
 * each client has its own. Steps for one URI run one after the other, so that a quick unsubscribe
 * never overtakes its subscribe. A server that cannot be subscribed to is tracked here alone; its
 * updates are delivered all the same.
 */
import type { Call } from "../protocol/call.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";

/** One client's wish. */
export interface SubscriptionRecord {
  readonly clientKey: string;
  readonly serverId: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The URI as this client wrote it. */
  readonly form: string;
  readonly since: number;
  /**
   * Whether the client can have a connection of its own to a server that is not shared; only one
   * with a session can.
   */
  readonly hasSession: boolean;
  readonly deliver: (serverUri: string, params: string) => void;
}

/** What is asked of a server; with neither call nor owner, on the connection that all share. */
export interface UpstreamRequest {
  readonly serverId: string;
  readonly method: "resources/subscribe" | "resources/unsubscribe";
  readonly uri: string;
  readonly call: Call | undefined;
  /** The client whose own connection it is. */
  readonly ownerKey: string | undefined;
}

export interface SubscriptionOptions {
  readonly limitPerClient: () => number;
  readonly onLimit: OnLimit;
  readonly supports: (serverId: string) => boolean;
  readonly isShared: (serverId: string) => boolean;
  /** The server is connected and has been told of all subscriptions that there were. */
  readonly isReady: (serverId: string) => boolean;
  /**
   * The client has a connection of its own, or one that is being made again: what becomes of it is
   * reported for itself.
   */
  readonly hasOwned?: (serverId: string, clientKey: string) => boolean;
  readonly upstream: (request: UpstreamRequest) => Promise<Answer>;
  readonly changed: () => void;
  readonly added?: (record: SubscriptionRecord) => void;
  readonly removed?: (record: SubscriptionRecord) => void;
}

interface Topic {
  readonly key: string;
  readonly serverId: string;
  readonly uri: string;
  /** The client on whose own connection it is; undefined: on the one that all share. */
  readonly owner: string | undefined;
  readonly records: Map<string, SubscriptionRecord>;
  /** The last step that was begun; the next one waits for it. */
  last: Promise<unknown>;
  active: boolean;
}

const OK: Answer = { ok: true, raw: "{}" };

export class Subscriptions {
  readonly #options: SubscriptionOptions;
  /**
   * Server, then URI (with the client in front where connections are not shared), then the topic.
   */
  readonly #topics = new Map<string, Map<string, Topic>>();
  readonly #byClient = new Map<string, Set<SubscriptionRecord>>();
  readonly #topicOf = new Map<SubscriptionRecord, Topic>();
  /**
   * Those who may have missed an update and are to be told once, as soon as the server knows of
   * them.
   */
  readonly #stale = new Set<SubscriptionRecord>();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  get size(): number {
    let count = 0;
    for (const records of this.#byClient.values()) count += records.size;
    return count;
  }

  records(): SubscriptionRecord[] {
    return [...this.#byClient.values()].flatMap((records) => [...records]);
  }

  /** What a client subscribed to under this form of a URI. */
  find(clientKey: string, form: string): SubscriptionRecord | undefined {
    for (const record of this.#byClient.get(clientKey) ?? []) if (record.form === form) return record;
    return undefined;
  }

  countFor(serverId: string, uri: string): number {
    let count = 0;
    for (const topic of this.#topics.get(serverId)?.values() ?? []) if (topic.uri === uri) count += topic.records.size;
    return count;
  }

  async subscribe(record: SubscriptionRecord, call: Call | undefined): Promise<Answer> {
    const { clientKey, serverId, uri } = record;
    const known = this.#known(clientKey, serverId, uri);
    const limit = this.#options.limitPerClient();
    if (!known && (this.#byClient.get(clientKey)?.size ?? 0) >= limit) {
      this.#options.onLimit("subscriptionsPerClient");
      const what = "this client holds too many subscriptions";
      const advice = "unsubscribe from one first";
      return failure(limitExceeded({ limit: "subscriptionsPerClient", value: limit, what, advice }));
    }
    const topic = (known && this.#topicOf.get(known)) ?? this.#topic(record);
    this.#put(topic, record, known);
    const answer = await this.#step(topic, () => this.#ensureActive(topic, call));
    if (answer.ok) return OK;
    if (topic.records.get(clientKey) === record) this.#take(record);
    this.#forgetIdle(topic);
    return answer;
  }

  async unsubscribe(clientKey: string, serverId: string, uri: string, call: Call | undefined): Promise<Answer> {
    const record = this.#known(clientKey, serverId, uri);
    const topic = record && this.#take(record);
    if (!topic) return OK;
    const answer = await this.#step(topic, () => this.#ensureInactive(topic, call));
    // A connection that is gone took the subscription with it.
    return !answer.ok && answer.symbol === "BACKEND_UNAVAILABLE" ? OK : answer;
  }

  /** The client is gone. */
  dropClient(clientKey: string): void {
    for (const record of [...(this.#byClient.get(clientKey) ?? [])]) {
      const topic = this.#take(record);
      if (topic) void this.#step(topic, () => this.#ensureInactive(topic, undefined));
    }
  }

  /** The server is gone for good. */
  dropServer(serverId: string): void {
    for (const topic of this.#topics.get(serverId)?.values() ?? []) {
      for (const record of [...topic.records.values()]) this.#take(record);
    }
    this.#topics.delete(serverId);
  }

  /**
   * A server says that a resource changed: everybody who subscribed to it, or to something above
   * it, is told once.
   */
  updated(serverId: string, uri: string, params: string, ownerKey: string | undefined): void {
    const topics = this.#topics.get(serverId);
    if (!topics) return;
    const told = new Set<string>();
    for (const candidate of [uri, ...parentsOf(uri)]) {
      const topic = topics.get(topicKey(candidate, ownerKey));
      if (!topic) continue;
      for (const record of topic.records.values()) {
        if (told.has(record.clientKey)) continue;
        told.add(record.clientKey);
        record.deliver(uri, params);
      }
    }
  }

  /**
   * The server has a new connection: it is asked anew for everything, and each subscriber is told
   * once, since it may have missed a change.
   */
  async restored(serverId: string): Promise<void> {
    this.#rekey(serverId);
    const stands = ({ owner, active }: Topic) =>
      active && owner !== undefined && this.#options.hasOwned?.(serverId, owner) === true;
    await this.#renew([...(this.#topics.get(serverId)?.values() ?? [])].filter((topic) => !stands(topic)));
  }

  /** The same for the connection that one client has of its own. */
  async ownedRestored(serverId: string, clientKey: string): Promise<void> {
    const topics = this.#topicsOf(serverId, clientKey);
    if (this.#options.isReady(serverId)) return this.#renew(topics);
    // What the server can do is known once it is ready; `restored` or `ready` goes on from here.
    for (const topic of topics) this.#markStale(topic);
  }

  has(serverId: string, clientKey: string): boolean {
    return this.#topicsOf(serverId, clientKey).length > 0;
  }

  /**
   * Takes up a subscription that an earlier process held. It stays whatever the server says; the
   * client is told once.
   */
  async resume(record: SubscriptionRecord): Promise<void> {
    if (this.#known(record.clientKey, record.serverId, record.uri)) return;
    const topic = this.#topic(record);
    this.#put(topic, record, undefined);
    this.#stale.add(record);
    if (this.#options.isReady(record.serverId)) await this.#resync(topic);
  }

  /** The server is ready: whoever came while it was not is told now. */
  async ready(serverId: string): Promise<void> {
    if (this.#stale.size === 0) return;
    await Promise.all([...(this.#topics.get(serverId)?.values() ?? [])].map((topic) => this.#resync(topic)));
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

  #topicsOf(serverId: string, clientKey: string): Topic[] {
    return [...(this.#topics.get(serverId)?.values() ?? [])].filter(({ owner }) => owner === clientKey);
  }

  /**
   * Whether a server is shared, or can be subscribed to, may have changed, and with it what belongs
   * together.
   */
  #rekey(serverId: string): void {
    const records = [...(this.#topics.get(serverId)?.values() ?? [])].flatMap((topic) => [...topic.records.values()]);
    if (records.every((record) => this.#topicOf.get(record)?.owner === this.#ownerOf(record))) return;
    this.#topics.delete(serverId);
    for (const record of records) this.#join(this.#topic(record), record);
  }

  async #ensureActive(topic: Topic, call: Call | undefined): Promise<Answer> {
    if (topic.active || topic.records.size === 0 || !this.#options.supports(topic.serverId)) return OK;
    const answer = await this.#options.upstream(this.#request(topic, "resources/subscribe", call));
    if (answer.ok) topic.active = true;
    return answer;
  }

  async #ensureInactive(topic: Topic, call: Call | undefined): Promise<Answer> {
    if (topic.records.size > 0) return OK;
    const wasActive = topic.active;
    topic.active = false;
    // A connection of the client's own goes away with it; only the shared one has to be told.
    const isTold = wasActive && (call !== undefined || topic.owner === undefined);
    const answer = isTold ? await this.#options.upstream(this.#request(topic, "resources/unsubscribe", call)) : OK;
    this.#forgetIdle(topic);
    return answer;
  }

  #request(topic: Topic, method: UpstreamRequest["method"], call: Call | undefined): UpstreamRequest {
    const { serverId, uri, owner } = topic;
    return { serverId, method, uri, call: owner === undefined ? undefined : call, ownerKey: owner };
  }

  #step(topic: Topic, step: () => Promise<Answer>): Promise<Answer> {
    const run = topic.last.then(step, step).catch((error: unknown) => failure(error));
    topic.last = run;
    return run;
  }

  #topic(record: SubscriptionRecord): Topic {
    const { serverId, uri } = record;
    const topics = this.#topics.get(serverId) ?? new Map<string, Topic>();
    this.#topics.set(serverId, topics);
    const owner = this.#ownerOf(record);
    const key = topicKey(uri, owner);
    const made = { key, serverId, uri, owner, records: new Map(), last: Promise.resolve(), active: false };
    const topic = topics.get(key) ?? made;
    topics.set(key, topic);
    return topic;
  }

  /**
   * Updates that nobody can subscribe to come on the shared connection; a client may have no other.
   */
  #ownerOf({ serverId, clientKey, hasSession }: SubscriptionRecord): string | undefined {
    const { isShared, supports } = this.#options;
    return hasSession && !isShared(serverId) && supports(serverId) ? clientKey : undefined;
  }

  #known(clientKey: string, serverId: string, uri: string): SubscriptionRecord | undefined {
    for (const record of this.#byClient.get(clientKey) ?? []) {
      if (record.serverId === serverId && record.uri === uri) return record;
    }
    return undefined;
  }

  #join(topic: Topic, record: SubscriptionRecord): void {
    topic.records.set(record.clientKey, record);
    this.#topicOf.set(record, topic);
  }

  #put(topic: Topic, record: SubscriptionRecord, known: SubscriptionRecord | undefined): void {
    const own = this.#byClient.get(record.clientKey) ?? new Set();
    this.#byClient.set(record.clientKey, own);
    if (known) {
      own.delete(known);
      this.#topicOf.delete(known);
      this.#stale.delete(known);
    }
    own.add(record);
    this.#join(topic, record);
    this.#options.added?.(record);
    this.#options.changed();
  }

  /** Answers the topic that the record was in. */
  #take(record: SubscriptionRecord): Topic | undefined {
    const topic = this.#topicOf.get(record);
    topic?.records.delete(record.clientKey);
    this.#topicOf.delete(record);
    const own = this.#byClient.get(record.clientKey);
    own?.delete(record);
    if (own?.size === 0) this.#byClient.delete(record.clientKey);
    this.#stale.delete(record);
    this.#options.removed?.(record);
    this.#options.changed();
    return topic;
  }

  /** Not before the last step is over: whoever subscribes meanwhile has to wait for it. */
  #forgetIdle(topic: Topic): void {
    if (topic.records.size > 0 || topic.active) return;
    const topics = this.#topics.get(topic.serverId);
    if (topics?.get(topic.key) === topic) topics.delete(topic.key);
  }
}

function topicKey(uri: string, owner: string | undefined): string {
  return owner === undefined ? uri : `${owner} ${uri}`;
}

/**
 * Longer ones have no parents: a server could ask for work that grows with the square of their
 * length.
 */
const MAX_LENGTH = 4096;

/** Every URI of which this one is a part, by path or as a fragment. */
function parentsOf(uri: string): string[] {
  const parents: string[] = [];
  if (uri.length > MAX_LENGTH) return parents;
  for (let i = uri.length - 1; i > 0; i--) {
    const c = uri[i];
    if (c !== "/" && c !== "#") continue;
    parents.push(uri.slice(0, i));
    if (c === "/" && i < uri.length - 1) parents.push(uri.slice(0, i + 1));
  }
  return parents;
}
