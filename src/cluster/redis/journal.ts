/**
 * The journal of sessions in Redis, where the replica that takes a session over finds it.
 *
 * It is written as things happen and waited for only where a session ends. What this process wrote
 * is kept here too, so that it can be written again when Redis has lost it. It holds no
 * credentials, and names sessions by their internal keys, which no client can use. What a session
 * subscribed to is sealed for that session: who can write to Redis can make it forget, and no more.
 */

import { createHmac } from "node:crypto";
import type { JournaledSubscription, Remembered, SessionJournal } from "../../core/session/journal.ts";
import { type ByteSealer, createByteSealer } from "../../lib/crypto/byte-sealer.ts";
import { BoundedMap, BoundedSet } from "../../lib/structures/bounded-map.ts";
import { clusterKey } from "../owners.ts";
import type { Redis } from "./redis.ts";

interface Kept {
  readonly subscriptions: Map<string, JournaledSubscription>;
  logLevel: string | undefined;
}

interface Loaded extends Remembered {
  readonly hasEnded: boolean;
}

export interface RedisJournalOptions {
  readonly prefix: string;
  readonly keepMs: number;
  readonly secret: string;
}

/** The content of a field, and its session. */
type Field =
  | readonly [key: string, kind: "subscription", serverId: string, uri: string, form: string]
  | readonly [key: string, kind: "level", level: string];

const UNKNOWN: Loaded = { subscriptions: [], logLevel: undefined, hasEnded: false };
/** The ends of sessions that are written again if Redis lost them. */
const MAX_ENDED = 10_000;
/** Sessions that were looked up and are about to be opened. */
const MAX_LOADED = 1000;

export class RedisJournal implements SessionJournal {
  /** Leases say that, not the journal. */
  readonly lastAlive = 0;
  readonly #redis: Redis;
  readonly #options: RedisJournalOptions;
  readonly #sealer: ByteSealer;
  readonly #nameKey: Buffer;
  readonly #sessions = new Map<string, Kept>();
  readonly #ended = new BoundedSet<string>(MAX_ENDED);
  readonly #loaded = new BoundedMap<string, Loaded>(MAX_LOADED);
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(redis: Redis, options: RedisJournalOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#sealer = createByteSealer(clusterKey(options.secret, "journal"));
    this.#nameKey = clusterKey(options.secret, "journal names");
  }

  /** Looks a session up, for `remembered` and `hasEnded`. */
  async load(key: string): Promise<void> {
    let found = UNKNOWN;
    try {
      const [ended, fields] = await Promise.all([
        this.#redis.command("EXISTS", this.#endKey(key)),
        this.#redis.command("HGETALL", this.#key(key)),
      ]);
      found = { hasEnded: ended === 1, ...this.#rememberedIn(key, Array.isArray(fields) ? fields : []) };
    } catch {
      // Without Redis, the session goes on without its subscriptions.
    }
    this.#loaded.set(key, found);
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
    this.#set([key, "subscription", serverId, uri, form]);
  }

  unsubscribed(key: string, serverId: string, uri: string): void {
    if (!this.#sessions.get(key)?.subscriptions.delete(topic(serverId, uri))) return;
    this.#do("HDEL", this.#key(key), this.#name([key, "subscription", serverId, uri]));
  }

  level(key: string, level: string): void {
    this.#kept(key).logLevel = level;
    this.#set([key, "level", level]);
  }

  ended(key: string): void {
    if (this.#closed) return;
    this.#sessions.delete(key);
    this.#ended.add(key);
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
        this.#set([key, "subscription", serverId, uri, form]);
      if (logLevel !== undefined) this.#set([key, "level", logLevel]);
      await this.#last;
    }
    for (const key of this.#ended) this.#do("SET", this.#endKey(key), 1, "PX", this.#options.keepMs);
    await this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#closed = true;
  }

  #set(field: Field): void {
    const [key, kind, ...rest] = field;
    const name = kind === "level" ? this.#name([key, kind]) : this.#name([key, kind, rest[0]!, rest[1]!]);
    this.#do("HSET", this.#key(key), name, this.#sealer.seal(JSON.stringify(field)).toString("base64"));
    this.#do("PEXPIRE", this.#key(key), this.#options.keepMs);
  }

  #name(parts: readonly string[]): string {
    return createHmac("sha256", this.#nameKey).update(JSON.stringify(parts)).digest("base64url").slice(0, 24);
  }

  /** Reads the fields of a hash, which come as names and values in turn. */
  #rememberedIn(key: string, fields: readonly unknown[]): Remembered {
    const subscriptions: JournaledSubscription[] = [];
    let logLevel: string | undefined;
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const field = this.#open(String(fields[i + 1]));
      if (field?.[0] !== key) continue;
      if (field[1] === "level") logLevel = field[2];
      else subscriptions.push({ serverId: field[2], uri: field[3], form: field[4] });
    }
    return { subscriptions, logLevel };
  }

  /** Returns undefined for what no replica of this cluster wrote. */
  #open(text: string): Field | undefined {
    try {
      return JSON.parse(this.#sealer.open(Buffer.from(text, "base64")).toString("utf8")) as Field;
    } catch {
      return undefined;
    }
  }

  #do(...parts: Parameters<Redis["command"]>): void {
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

function topic(serverId: string, uri: string): string {
  return `${serverId} ${uri}`;
}
