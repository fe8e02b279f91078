/**
 * Books of secrets in Redis that all replicas have: logins at servers, and what pairing remembers.
 *
 * Redis sees neither names nor texts: a field is a digest of a name, and a value is sealed,
 * together with its name, with a key of the cluster's secret. What does not open counts as not
 * there. So who can write to Redis can remove entries and bring old ones back, and no more;
 * replicas write newer ones again.
 */
import { createHmac, randomBytes } from "node:crypto";
import type {
  Hold,
  Pulled,
  RemovedMs,
  SharedPlace,
  SharedPlaces,
  Stamped,
} from "../../auth/secrets/shared/shared-place.ts";
import { forgets } from "../../auth/secrets/shared/stamped-book.ts";
import { type ByteSealer, createByteSealer } from "../../lib/crypto/byte-sealer.ts";
import { clusterKey } from "../owners.ts";
import { RedisLocks } from "./locks.ts";
import type { Redis, Reply } from "./redis.ts";

export interface RedisBooksOptions {
  readonly redis: Redis;
  readonly prefix: string;
  readonly secret: string;
  /** The number of this replica. */
  readonly self: string;
}

/** The version is a random word and a number: a Redis that lost everything begins another word. */
const PULL = `local found = redis.call("ZRANGEBYSCORE", KEYS[2], "(" .. ARGV[1], "+inf", "LIMIT", ARGV[2], ARGV[3])
local out = {redis.call("GET", KEYS[1]) or "", redis.call("ZCARD", KEYS[2])}
for _, field in ipairs(found) do
  local isOurs = #field <= 24 and redis.call("HSTRLEN", KEYS[3], field) <= tonumber(ARGV[4])
  out[#out + 1] = isOurs and field or ""
  out[#out + 1] = isOurs and redis.call("HGET", KEYS[3], field) or ""
end
return out`;
const PUSH = `if (redis.call("GET", KEYS[1]) or "") ~= ARGV[1] then return 0 end
for i = 4, #ARGV, 2 do
  redis.call("HSET", KEYS[3], ARGV[i], ARGV[i + 1])
  redis.call("ZADD", KEYS[2], ARGV[3], ARGV[i])
end
redis.call("SET", KEYS[1], ARGV[2])
return 1`;
/** A page of the longest values is a reply that can be read. */
const AT_ONCE = 50;
const MAX_VALUE_BYTES = 256 * 1024;
/** Somebody may fill a book with garbage, or change it all the time. */
const MAX_ENTRIES = 100_000;
const MAX_TRIES = 20;

export class RedisBooks implements SharedPlaces {
  readonly #options: RedisBooksOptions;
  readonly #locks: RedisLocks;
  readonly #listeners: (() => void)[] = [];
  readonly #settled: Promise<void>;
  #settle: () => void = () => {};

  constructor(options: RedisBooksOptions) {
    this.#options = options;
    this.#locks = new RedisLocks(options);
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Redis is there. */
  up(): void {
    this.#settle();
    this.#locks.up();
    for (const listener of this.#listeners) listener();
  }

  /** Redis is not there. */
  down(): void {
    this.#settle();
  }

  keyFor(purpose: string): Buffer {
    return clusterKey(this.#options.secret, purpose);
  }

  book(name: string, removedMs?: RemovedMs): SharedPlace {
    const { redis } = this.#options;
    const book = new RedisBook(this.#options, name, removedMs);
    return {
      get isUp() {
        return redis.isReady;
      },
      pull: (options) => book.pull(options?.isFull === true),
      hasChanged: () => book.hasChanged(),
      hold: <T>(of: string, work: (hold: Hold) => Promise<T>) => this.#locks.hold(`${name} ${of}`, work),
      onUp: (listener) => {
        this.#listeners.push(listener);
        if (redis.isReady) listener();
      },
      settled: () => this.#settled,
    };
  }
}

class RedisBook {
  readonly #redis: Redis;
  readonly #keys: readonly [version: string, order: string, values: string];
  readonly #sealer: ByteSealer;
  readonly #digestKey: Buffer;
  readonly #removedMs: RemovedMs | undefined;
  readonly #entries = new Map<string, Stamped>();
  #version = "";

  constructor({ redis, prefix, secret }: RedisBooksOptions, name: string, removedMs: RemovedMs | undefined) {
    this.#redis = redis;
    const key = `${prefix}book:${name}:`;
    this.#keys = [`${key}version`, `${key}order`, `${key}values`];
    this.#sealer = createByteSealer(clusterKey(secret, `book ${name}`));
    this.#digestKey = clusterKey(secret, `book names ${name}`);
    this.#removedMs = removedMs;
  }

  async hasChanged(): Promise<boolean> {
    return ((await this.#redis.command("GET", this.#keys[0])) ?? "") !== this.#version;
  }

  async pull(isFull: boolean): Promise<Pulled> {
    const version = await this.#read(isFull ? "" : this.#version);
    return { entries: this.#entries, push: (entries) => this.#push(entries, version) };
  }

  /** Reads what changed since a version. Returns the version now. */
  async #read(known: string, tries = 0): Promise<string> {
    if (tries === MAX_TRIES) throw new Error("somebody changes the book all the time");
    const since = known === "" ? 0 : numberOf(known);
    const found: [field: string, name: string, entry: Stamped][] = [];
    let version: string | undefined;
    for (let at = 0; ; at += AT_ONCE) {
      const reply = await this.#redis.command("EVAL", PULL, 3, ...this.#keys, since, at, AT_ONCE, MAX_VALUE_BYTES);
      const [head, count, ...rest] = textsIn(reply);
      if (head === undefined) throw new Error("Redis gave no book");
      if (Number(count) > MAX_ENTRIES) throw new Error(`the book has more than ${MAX_ENTRIES} entries`);
      // Somebody wrote between two pages, or Redis is another one: once more from the start.
      if (known !== "" && (wordOf(head) !== wordOf(known) || numberOf(head) < since)) return this.#read("", tries + 1);
      if (version !== undefined && head !== version) return this.#read(known, tries + 1);
      version = head;
      for (let i = 0; i + 1 < rest.length; i += 2) {
        const opened = this.#open(rest[i]!, rest[i + 1]!);
        if (opened) found.push([rest[i]!, ...opened]);
      }
      if (rest.length < 2 * AT_ONCE) break;
    }
    if (known === "") this.#entries.clear();
    const forgotten: string[] = [];
    const isForgotten = forgets(Date.now(), this.#removedMs);
    for (const [field, name, entry] of found) {
      if (isForgotten(name, entry)) forgotten.push(field);
      this.#entries.set(name, entry);
    }
    this.#version = version;
    if (forgotten.length > 0) await this.#forget(forgotten);
    return version;
  }

  async #push(entries: ReadonlyMap<string, Stamped>, version: string): Promise<boolean> {
    const number = numberOf(version) + 1;
    const next = `${wordOf(version) || randomBytes(6).toString("hex")}:${number}`;
    const fields = [...entries].flatMap(([name, entry]) => [this.#field(name), this.#seal(name, entry)]);
    const done = await this.#redis.command("EVAL", PUSH, 3, ...this.#keys, version, next, number, ...fields);
    if (done !== 1) return false;
    for (const [name, entry] of entries) this.#entries.set(name, entry);
    this.#version = next;
    return true;
  }

  async #forget(fields: readonly string[]): Promise<void> {
    const [, order, values] = this.#keys;
    await Promise.all([this.#redis.command("HDEL", values, ...fields), this.#redis.command("ZREM", order, ...fields)]);
  }

  #field(name: string): string {
    return createHmac("sha256", this.#digestKey).update(name).digest("base64url").slice(0, 24);
  }

  #seal(name: string, { stamp, text }: Stamped): string {
    return this.#sealer.seal(JSON.stringify([name, stamp, text])).toString("base64");
  }

  /** Returns undefined for what no replica of this cluster wrote there. */
  #open(field: string, value: string): [string, Stamped] | undefined {
    try {
      const bytes = Buffer.from(value, "base64");
      const [name, stamp, text] = JSON.parse(this.#sealer.open(bytes).toString("utf8")) as [string, number, string];
      return this.#field(name) === field ? [name, { stamp, text }] : undefined;
    } catch {
      return undefined;
    }
  }
}

function wordOf(version: string): string {
  return /^([0-9a-f]{12}):\d{1,15}$/.exec(version)?.[1] ?? "";
}

function numberOf(version: string): number {
  return Number(/^[0-9a-f]{12}:(\d{1,15})$/.exec(version)?.[1] ?? 0);
}

function textsIn(reply: Reply): string[] {
  return Array.isArray(reply) ? reply.map((one) => String(one ?? "")) : [];
}
