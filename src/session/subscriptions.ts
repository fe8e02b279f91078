/**
 * Who wants to hear of which resource.
 *
 * One record for each (client, server, URI), with the form of the URI that the client used and the time. At the server there is one subscription
 * for each (server, URI), however many clients share it: the first one subscribes, the last one unsubscribes. With connections
 * that are not shared, each client has its own. Steps for one URI run one after the other, so that a quick unsubscribe never
 * overtakes its subscribe. A server that cannot be subscribed to is tracked here alone; its updates are delivered all the same.
 */
import type { Call } from "../model/call.ts";
import { GoblinError } from "../model/errors.ts";
import { type Answer, failure } from "../model/json-rpc.ts";

/** One client's wish. */
export interface SubscriptionRecord {
  readonly clientKey: string;
  readonly serverId: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The URI as this client wrote it. */
  readonly form: string;
  readonly since: number;
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
  readonly supports: (serverId: string) => boolean;
  readonly isShared: (serverId: string) => boolean;
  /** The server is connected and has been told of all subscriptions that there were. */
  readonly isReady: (serverId: string) => boolean;
  readonly upstream: (request: UpstreamRequest) => Promise<Answer>;
  readonly changed: () => void;
  readonly added?: (record: SubscriptionRecord) => void;
  readonly removed?: (record: SubscriptionRecord) => void;
}

interface Topic {
  readonly key: string;
  readonly serverId: string;
  readonly uri: string;
  readonly records: Map<string, SubscriptionRecord>;
  /** The last step that was begun; the next one waits for it. */
  last: Promise<unknown>;
  active: boolean;
}

const OK: Answer = { ok: true, raw: "{}" };

export class Subscriptions {
  readonly #options: SubscriptionOptions;
  /** Server, then URI (with the client in front where connections are not shared), then the topic. */
  readonly #topics = new Map<string, Map<string, Topic>>();
  readonly #byClient = new Map<string, Set<SubscriptionRecord>>();
  /** Those who may have missed an update and are to be told once, as soon as the server knows of them. */
  readonly #owed = new Set<SubscriptionRecord>();

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
    const topic = this.#topic(serverId, uri, clientKey);
    const known = topic.records.get(clientKey);
    const own = this.#byClient.get(clientKey);
    const limit = this.#options.limitPerClient();
    if (!known && (own?.size ?? 0) >= limit) {
      this.#forgetIdle(topic);
      const message = `LimitExceeded: a client may hold ${limit} subscriptions (limits.subscriptionsPerClient)`;
      return failure(new GoblinError("LimitExceeded", message, { data: { limit } }));
    }
    this.#put(topic, record, known);
    const answer = await this.#step(topic, () => this.#ensureActive(topic, call));
    if (answer.ok) return OK;
    if (topic.records.get(clientKey) === record) this.#take(topic, record);
    this.#forgetIdle(topic);
    return answer;
  }

  async unsubscribe(clientKey: string, serverId: string, uri: string, call: Call | undefined): Promise<Answer> {
    const topic = this.#topics.get(serverId)?.get(this.#topicKey(serverId, uri, clientKey));
    const record = topic?.records.get(clientKey);
    if (!topic || !record) return OK;
    this.#take(topic, record);
    return this.#step(topic, () => this.#ensureInactive(topic, call));
  }

  /** The client is gone. */
  dropClient(clientKey: string): void {
    for (const record of [...(this.#byClient.get(clientKey) ?? [])]) {
      const topic = this.#topics.get(record.serverId)?.get(this.#topicKey(record.serverId, record.uri, clientKey));
      if (!topic) continue;
      this.#take(topic, record);
      void this.#step(topic, () => this.#ensureInactive(topic, undefined));
    }
  }

  /** The server is gone for good. */
  dropServer(serverId: string): void {
    for (const topic of this.#topics.get(serverId)?.values() ?? []) {
      for (const record of [...topic.records.values()]) this.#take(topic, record);
    }
    this.#topics.delete(serverId);
  }

  /** A server says that a resource changed: everybody who subscribed to it, or to something above it, is told. */
  updated(serverId: string, uri: string, params: string, ownerKey: string | undefined): void {
    const topics = this.#topics.get(serverId);
    if (!topics) return;
    for (const candidate of [uri, ...parentsOf(uri)]) {
      const topic = topics.get(ownerKey === undefined ? candidate : `${ownerKey} ${candidate}`);
      if (!topic) continue;
      for (const record of topic.records.values()) record.deliver(uri, params);
    }
  }

  /** The server has a new connection: it is asked anew for everything, and each subscriber is told once, since it may have missed a change. */
  async restored(serverId: string): Promise<void> {
    this.#rekey(serverId);
    await this.#renew([...(this.#topics.get(serverId)?.values() ?? [])]);
  }

  /** The same for the connection that one client has of its own. */
  async ownedRestored(serverId: string, clientKey: string): Promise<void> {
    await this.#renew(this.#topicsOf(serverId, clientKey));
  }

  has(serverId: string, clientKey: string): boolean {
    return this.#topicsOf(serverId, clientKey).length > 0;
  }

  /** Takes up a subscription that an earlier process held. It stays whatever the server says; the client is told once. */
  async resume(record: SubscriptionRecord): Promise<void> {
    const topic = this.#topic(record.serverId, record.uri, record.clientKey);
    if (topic.records.has(record.clientKey)) return;
    this.#put(topic, record, undefined);
    this.#owed.add(record);
    if (this.#options.isReady(record.serverId)) await this.#pay(topic);
  }

  /** The server is ready: whoever came while it was not is told now. */
  async ready(serverId: string): Promise<void> {
    if (this.#owed.size === 0) return;
    await Promise.all([...(this.#topics.get(serverId)?.values() ?? [])].map((topic) => this.#pay(topic)));
  }

  async #renew(topics: readonly Topic[]): Promise<void> {
    await Promise.all(
      topics.map((topic) => {
        topic.active = false;
        for (const record of topic.records.values()) this.#owed.add(record);
        return this.#pay(topic);
      }),
    );
  }

  async #pay(topic: Topic): Promise<void> {
    await this.#step(topic, () => this.#ensureActive(topic, undefined));
    for (const record of topic.records.values()) {
      if (this.#owed.delete(record)) record.deliver(topic.uri, JSON.stringify({ uri: topic.uri }));
    }
  }

  #topicsOf(serverId: string, clientKey: string): Topic[] {
    return [...(this.#topics.get(serverId)?.values() ?? [])].filter((topic) => topic.records.has(clientKey));
  }

  /** Whether a server is shared may have changed with its config, and with it what belongs together. */
  #rekey(serverId: string): void {
    const topics = [...(this.#topics.get(serverId)?.values() ?? [])];
    const [first] = topics;
    const client = first?.records.keys().next().value;
    if (!first || client === undefined || first.key === this.#topicKey(serverId, first.uri, client)) return;
    this.#topics.delete(serverId);
    for (const { uri, records } of topics) {
      for (const record of records.values())
        this.#topic(serverId, uri, record.clientKey).records.set(record.clientKey, record);
    }
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
    const isTold = wasActive && (call !== undefined || this.#options.isShared(topic.serverId));
    const answer = isTold ? await this.#options.upstream(this.#request(topic, "resources/unsubscribe", call)) : OK;
    this.#forgetIdle(topic);
    return answer;
  }

  #request(topic: Topic, method: UpstreamRequest["method"], call: Call | undefined): UpstreamRequest {
    const { serverId, uri } = topic;
    if (this.#options.isShared(serverId)) return { serverId, method, uri, call: undefined, ownerKey: undefined };
    return { serverId, method, uri, call, ownerKey: topic.records.keys().next().value };
  }

  #step(topic: Topic, step: () => Promise<Answer>): Promise<Answer> {
    const run = topic.last.then(step, step).catch((error: unknown) => failure(error));
    topic.last = run;
    return run;
  }

  #topic(serverId: string, uri: string, clientKey: string): Topic {
    const topics = this.#topics.get(serverId) ?? new Map<string, Topic>();
    this.#topics.set(serverId, topics);
    const key = this.#topicKey(serverId, uri, clientKey);
    const topic = topics.get(key) ?? { key, serverId, uri, records: new Map(), last: Promise.resolve(), active: false };
    topics.set(key, topic);
    return topic;
  }

  #topicKey(serverId: string, uri: string, clientKey: string): string {
    return this.#options.isShared(serverId) ? uri : `${clientKey} ${uri}`;
  }

  #put(topic: Topic, record: SubscriptionRecord, known: SubscriptionRecord | undefined): void {
    const own = this.#byClient.get(record.clientKey) ?? new Set();
    this.#byClient.set(record.clientKey, own);
    if (known) own.delete(known);
    own.add(record);
    topic.records.set(record.clientKey, record);
    if (known) this.#owed.delete(known);
    this.#options.added?.(record);
    this.#options.changed();
  }

  #take(topic: Topic, record: SubscriptionRecord): void {
    topic.records.delete(record.clientKey);
    const own = this.#byClient.get(record.clientKey);
    own?.delete(record);
    if (own?.size === 0) this.#byClient.delete(record.clientKey);
    this.#owed.delete(record);
    this.#options.removed?.(record);
    this.#options.changed();
  }

  /** Not before the last step is over: whoever subscribes meanwhile has to wait for it. */
  #forgetIdle(topic: Topic): void {
    if (topic.records.size > 0 || topic.active) return;
    const topics = this.#topics.get(topic.serverId);
    if (topics?.get(topic.key) === topic) topics.delete(topic.key);
  }
}

/** Every URI of which this one is a part, by path or as a fragment. */
function parentsOf(uri: string): string[] {
  const parents: string[] = [];
  for (let i = uri.length - 1; i > 0; i--) {
    const c = uri[i];
    if (c !== "/" && c !== "#") continue;
    parents.push(uri.slice(0, i));
    if (c === "/" && i < uri.length - 1) parents.push(uri.slice(0, i + 1));
  }
  return parents;
}
