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

export interface SubscriptionOptions {
  readonly limitPerClient: () => number;
  readonly supports: (serverId: string) => boolean;
  readonly isShared: (serverId: string) => boolean;
  /** Asks the server. Without a call it is the gateway's own request, on the shared connection. */
  readonly upstream: (serverId: string, method: string, uri: string, call: Call | undefined) => Promise<Answer>;
  readonly changed: () => void;
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
      if (topic.records.size === 0 && !topic.active) this.#forget(topic);
      const message = `LimitExceeded: a client may hold ${limit} subscriptions (limits.subscriptionsPerClient)`;
      return failure(new GoblinError("LimitExceeded", message, { data: { limit } }));
    }
    this.#put(topic, record, known);
    const answer = await this.#step(topic, () => this.#ensureActive(topic, call));
    if (answer.ok) return OK;
    if (topic.records.get(clientKey) === record) this.#take(topic, record);
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

  /** The server was connected again: it is asked anew for everything, and each subscriber is told once, since it may have missed a change. */
  async restored(serverId: string): Promise<void> {
    const topics = [...(this.#topics.get(serverId)?.values() ?? [])];
    await Promise.all(
      topics.map(async (topic) => {
        topic.active = false;
        await this.#step(topic, () => this.#ensureActive(topic, undefined));
        for (const record of topic.records.values()) record.deliver(topic.uri, JSON.stringify({ uri: topic.uri }));
      }),
    );
  }

  async #ensureActive(topic: Topic, call: Call | undefined): Promise<Answer> {
    if (topic.active || topic.records.size === 0 || !this.#options.supports(topic.serverId)) return OK;
    const answer = await this.#options.upstream(
      topic.serverId,
      "resources/subscribe",
      topic.uri,
      this.#callFor(topic, call),
    );
    if (answer.ok) topic.active = true;
    return answer;
  }

  async #ensureInactive(topic: Topic, call: Call | undefined): Promise<Answer> {
    if (topic.records.size > 0) return OK;
    this.#forget(topic);
    if (!topic.active) return OK;
    topic.active = false;
    // A connection of the client's own goes away with it; only the shared one has to be told.
    if (!call && !this.#options.isShared(topic.serverId)) return OK;
    return this.#options.upstream(topic.serverId, "resources/unsubscribe", topic.uri, this.#callFor(topic, call));
  }

  #callFor(topic: Topic, call: Call | undefined): Call | undefined {
    return this.#options.isShared(topic.serverId) ? undefined : call;
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
    this.#options.changed();
  }

  #take(topic: Topic, record: SubscriptionRecord): void {
    topic.records.delete(record.clientKey);
    const own = this.#byClient.get(record.clientKey);
    own?.delete(record);
    if (own?.size === 0) this.#byClient.delete(record.clientKey);
    this.#options.changed();
  }

  #forget(topic: Topic): void {
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
