/**
 * The book of subscriptions: one record for each (client, server, URI), grouped into topics.
 *
 * A topic is one subscription at a server. Clients on a shared connection share one topic for each
 * (server, URI); other clients have their own. The book only stores records. `subscriptions.ts`
 * decides what to tell the servers, and when.
 */

/** One client's subscription. */
export interface SubscriptionRecord {
  readonly clientKey: string;
  readonly serverId: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The URI as this client wrote it. */
  readonly form: string;
  readonly since: number;
  /** For a client without a session: the account of its streams. */
  readonly account?: string | undefined;
  /** The client's principal, which may have its own connection to the server. */
  readonly principal?: string | undefined;
  /** Only a client with a session can have its own connection to a server. */
  readonly hasSession: boolean;
  /** Notifies the client; `params` is raw JSON with the server's own URI. */
  readonly deliver: (serverUri: string, params: string) => void;
}

export interface Topic {
  readonly key: string;
  readonly serverId: string;
  readonly uri: string;
  /**
   * The client or the principal whose own connection carries the topic; undefined: the shared
   * connection.
   */
  readonly owner: string | undefined;
  readonly records: Map<string, SubscriptionRecord>;
  /** The last step that was started. The next one waits for it. */
  last: Promise<unknown>;
  /** Whether the server has this subscription. */
  active: boolean;
}

export class SubscriptionBook {
  /** The topics by server, then by topic key. */
  readonly #topics = new Map<string, Map<string, Topic>>();
  readonly #byClient = new Map<string, Set<SubscriptionRecord>>();
  readonly #byAccount = new Map<string, number>();
  readonly #topicOf = new Map<SubscriptionRecord, Topic>();
  /** Returns the client or the principal whose own connection carries a record, if any. */
  readonly #ownerOf: (record: SubscriptionRecord) => string | undefined;

  constructor(ownerOf: (record: SubscriptionRecord) => string | undefined) {
    this.#ownerOf = ownerOf;
  }

  get size(): number {
    return this.#topicOf.size;
  }

  records(): SubscriptionRecord[] {
    return [...this.#topicOf.keys()];
  }

  recordsOf(clientKey: string): readonly SubscriptionRecord[] {
    return [...(this.#byClient.get(clientKey) ?? [])];
  }

  countOf(clientKey: string): number {
    return this.#byClient.get(clientKey)?.size ?? 0;
  }

  /** The subscriptions of all streams of an account. */
  countOfAccount(account: string): number {
    return this.#byAccount.get(account) ?? 0;
  }

  find(clientKey: string, serverId: string, uri: string): SubscriptionRecord | undefined {
    for (const record of this.#byClient.get(clientKey) ?? []) {
      if (record.serverId === serverId && record.uri === uri) return record;
    }
    return undefined;
  }

  /** Returns the client's subscription under this form of a URI. */
  findForm(clientKey: string, form: string): SubscriptionRecord | undefined {
    for (const record of this.#byClient.get(clientKey) ?? []) if (record.form === form) return record;
    return undefined;
  }

  topicsOf(serverId: string): Topic[] {
    return [...(this.#topics.get(serverId)?.values() ?? [])];
  }

  ownedTopics(serverId: string, clientKey: string): Topic[] {
    return this.topicsOf(serverId).filter(({ owner }) => owner === clientKey);
  }

  /** Returns the topics that an update of this URI concerns: its own, and those of its parents. */
  *topicsFor(serverId: string, uri: string, owner: string | undefined): Generator<Topic> {
    const topics = this.#topics.get(serverId);
    if (!topics) return;
    for (const candidate of [uri, ...parentsOf(uri)]) {
      const topic = topics.get(topicKey(candidate, owner));
      if (topic) yield topic;
    }
  }

  /** Adds a record, replacing `known`. Returns its topic. */
  put(record: SubscriptionRecord, known: SubscriptionRecord | undefined): Topic {
    const topic = (known && this.#topicOf.get(known)) ?? this.#topicFor(record);
    const own = this.#byClient.get(record.clientKey) ?? new Set();
    this.#byClient.set(record.clientKey, own);
    if (known) {
      own.delete(known);
      this.#topicOf.delete(known);
      this.#count(known, -1);
    }
    own.add(record);
    this.#count(record, 1);
    this.#join(topic, record);
    return topic;
  }

  /** Removes a record. Returns its former topic. */
  take(record: SubscriptionRecord): Topic | undefined {
    const topic = this.#topicOf.get(record);
    topic?.records.delete(record.clientKey);
    if (this.#topicOf.delete(record)) this.#count(record, -1);
    const own = this.#byClient.get(record.clientKey);
    own?.delete(record);
    if (own?.size === 0) this.#byClient.delete(record.clientKey);
    return topic;
  }

  /**
   * Rebuilds a server's topics if a record's connection is another one now. Returns whether it did.
   */
  regroup(serverId: string): boolean {
    const records = this.topicsOf(serverId).flatMap((topic) => [...topic.records.values()]);
    if (records.every((record) => this.#topicOf.get(record)?.owner === this.#ownerOf(record))) return false;
    this.#topics.delete(serverId);
    for (const record of records) this.#join(this.#topicFor(record), record);
    return true;
  }

  /** Removes a topic that has no subscribers and that the server does not have. */
  forgetIdle(topic: Topic): void {
    if (topic.records.size > 0 || topic.active) return;
    const topics = this.#topics.get(topic.serverId);
    if (topics?.get(topic.key) === topic) topics.delete(topic.key);
  }

  dropServer(serverId: string): void {
    this.#topics.delete(serverId);
  }

  #count({ account }: SubscriptionRecord, change: number): void {
    if (account === undefined) return;
    const count = this.countOfAccount(account) + change;
    if (count > 0) this.#byAccount.set(account, count);
    else this.#byAccount.delete(account);
  }

  #topicFor(record: SubscriptionRecord): Topic {
    const { serverId, uri } = record;
    const topics = this.#topics.get(serverId) ?? new Map<string, Topic>();
    this.#topics.set(serverId, topics);
    const owner = this.#ownerOf(record);
    const key = topicKey(uri, owner);
    const known = topics.get(key);
    if (known) return known;
    const made = { key, serverId, uri, owner, records: new Map(), last: Promise.resolve(), active: false };
    topics.set(key, made);
    return made;
  }

  #join(topic: Topic, record: SubscriptionRecord): void {
    topic.records.set(record.clientKey, record);
    this.#topicOf.set(record, topic);
  }
}

function topicKey(uri: string, owner: string | undefined): string {
  return owner === undefined ? uri : `${owner} ${uri}`;
}

/** Longer URIs have no parents: the work would grow with the square of their length. */
const MAX_LENGTH = 4096;

/** Returns every URI that contains this one, by path or as a fragment. */
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
