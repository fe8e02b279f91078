/**
 * The journal of sessions in Redis, where the replica that takes a session over finds it.
 *
 * It is written as things happen and waited for only where a session ends. What this process wrote
 * is kept here too, so that it can be written again when Redis has lost it. It holds no
 * credentials, and names sessions by their internal keys, which no client can use.
 */
import type { JournaledSubscription, Remembered, SessionJournal } from "../../session/journal.ts";
import type { Redis } from "./redis.ts";

interface Kept {
  readonly subscriptions: Map<string, JournaledSubscription>;
  logLevel: string | undefined;
}

interface Loaded extends Remembered {
  readonly hasEnded: boolean;
}

const LEVEL = "level";
const UNKNOWN: Loaded = { subscriptions: [], logLevel: undefined, hasEnded: false };
/** The ends of sessions that are written again if Redis lost them. */
const MOST_ENDED = 10_000;
/** Sessions that were looked up and are about to be opened. */
const MOST_LOADED = 1000;

export class RedisJournal implements SessionJournal {
  /** Leases say that, not the journal. */
  readonly lastAlive = 0;
  readonly #redis: Redis;
  readonly #options: { readonly prefix: string; readonly keepMs: number };
  readonly #sessions = new Map<string, Kept>();
  readonly #ended = new Set<string>();
  readonly #loaded = new Map<string, Loaded>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(redis: Redis, options: { readonly prefix: string; readonly keepMs: number }) {
    this.#redis = redis;
    this.#options = options;
  }

  /** Looks a session up, for `remembered` and `hasEnded`. */
  async load(key: string): Promise<void> {
    let found = UNKNOWN;
    try {
      const [ended, fields] = await Promise.all([
        this.#redis.command("EXISTS", this.#endKey(key)),
        this.#redis.command("HGETALL", this.#key(key)),
      ]);
      found = { hasEnded: ended === 1, ...rememberedIn(Array.isArray(fields) ? fields : []) };
    } catch {
      // Without Redis, the session goes on without its subscriptions.
    }
    this.#loaded.set(key, found);
    if (this.#loaded.size > MOST_LOADED) this.#loaded.delete(this.#loaded.keys().next().value!);
  }

  remembered(key: string): Remembered | undefined {
    const found = this.#loaded.get(key);
    this.#loaded.delete(key);
    if (!found) return undefined;
    const kept = this.#kept(key);
    for (const one of found.subscriptions) kept.subscriptions.set(topic(one.serverId, one.uri), one);
    kept.logLevel = found.logLevel;
    return found;
  }

  hasEnded(key: string): boolean {
    return this.#ended.has(key) || this.#loaded.get(key)?.hasEnded === true;
  }

  subscribed(key: string, subscription: JournaledSubscription): void {
    const { serverId, uri, form } = subscription;
    this.#kept(key).subscriptions.set(topic(serverId, uri), subscription);
    this.#set(key, JSON.stringify([serverId, uri]), form);
  }

  unsubscribed(key: string, serverId: string, uri: string): void {
    if (!this.#sessions.get(key)?.subscriptions.delete(topic(serverId, uri))) return;
    this.#do("HDEL", this.#key(key), JSON.stringify([serverId, uri]));
  }

  level(key: string, level: string): void {
    this.#kept(key).logLevel = level;
    this.#set(key, LEVEL, level);
  }

  ended(key: string): void {
    if (this.#closed) return;
    this.#sessions.delete(key);
    this.#ended.add(key);
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(this.#ended.values().next().value!);
    this.#do("SET", this.#endKey(key), 1, "PX", this.#options.keepMs);
    this.#do("DEL", this.#key(key));
  }

  /** Leaves a session to the replica that has it now. */
  released(key: string): void {
    this.#sessions.delete(key);
  }

  async written(): Promise<void> {
    await this.#last;
  }

  /** Sessions that nobody comes back for expire in Redis. */
  forget(): void {}

  /** Writes down again what Redis may have lost. */
  async writeAgain(): Promise<void> {
    for (const [key, { subscriptions, logLevel }] of this.#sessions) {
      for (const { serverId, uri, form } of subscriptions.values())
        this.#set(key, JSON.stringify([serverId, uri]), form);
      if (logLevel !== undefined) this.#set(key, LEVEL, logLevel);
      await this.#last;
    }
    for (const key of this.#ended) this.#do("SET", this.#endKey(key), 1, "PX", this.#options.keepMs);
    await this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#closed = true;
  }

  #set(key: string, field: string, value: string): void {
    this.#do("HSET", this.#key(key), field, value);
    this.#do("PEXPIRE", this.#key(key), this.#options.keepMs);
  }

  #do(...parts: readonly (string | number)[]): void {
    if (!this.#closed) this.#last = this.#redis.command(...parts).catch(() => {});
  }

  #kept(key: string): Kept {
    const kept = this.#sessions.get(key) ?? { subscriptions: new Map(), logLevel: undefined };
    this.#sessions.set(key, kept);
    return kept;
  }

  #key(key: string): string {
    return `${this.#options.prefix}session:${key}`;
  }

  #endKey(key: string): string {
    return `${this.#options.prefix}ended:${key}`;
  }
}

/** Reads the fields of a hash, which come as names and values in turn. */
function rememberedIn(fields: readonly unknown[]): Remembered {
  const subscriptions: JournaledSubscription[] = [];
  let logLevel: string | undefined;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [field, value] = [String(fields[i]), String(fields[i + 1])];
    if (field === LEVEL) logLevel = value;
    else {
      const [serverId, uri] = JSON.parse(field) as [string, string];
      subscriptions.push({ serverId, uri, form: value });
    }
  }
  return { subscriptions, logLevel };
}

function topic(serverId: string, uri: string): string {
  return `${serverId} ${uri}`;
}
