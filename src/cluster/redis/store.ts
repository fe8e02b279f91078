/**
 * The common knowledge of replicas in Redis: a lease for each replica, and the holder of each
 * session that was taken over.
 *
 * A replica renews its lease all the time. One that finds its lease gone was asleep, or Redis lost
 * its memory. Then it looks up who holds its sessions, gives up those that others took over, and
 * writes down again what it holds itself. What is in Redis names no client: keys are digests.
 */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { readRedisAddress } from "../../config/cluster/redis-address.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { Owner } from "../owners.ts";
import { clusterKey } from "../owners.ts";
import type { Member, SharedStore, StoreUser } from "../store.ts";
import { RedisBooks } from "./books.ts";
import { RedisBudgets } from "./budgets.ts";
import { RedisJournal } from "./journal.ts";
import { Redis, type Reply } from "./redis.ts";

export interface RedisStoreOptions {
  readonly url: string;
  readonly secret: string;
  readonly self: Owner;
  /** Whether this process issued the id. */
  readonly isOwn: (id: string) => boolean;
  /** How long a replica may be silent. */
  readonly timeoutMs: number;
  readonly log: Record<"info" | "warn", (fields: object, message: string) => void>;
}

/** The maximum age of a session. */
const SESSION_MS = 7 * 24 * 3_600_000;
const COMMAND_MS = 500;
/**
 * A Redis that is back may have lost what replicas hold. Until all have connected again and written
 * that down, which takes them two seconds at most, who wants to take a session over waits.
 */
const SETTLE_MS = 3000;
const AT_ONCE = 500;
/** How long a replica whose lease ran out is shown as lost. */
const LOST_MS = 10 * 60_000;
/** More are not replicas: anybody with access to Redis may have written them. */
const MAX_MEMBERS = 1000;
const SCRIPT = `local held = redis.call("GET", KEYS[1])
local isOwner, owner = pcall(cjson.decode, held or "")
if not isOwner or type(owner) ~= "table" or type(owner[1]) ~= "string" or held == ARGV[1] or owner[1] == ARGV[2] then
  redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[3])
  return ARGV[1]
end
return held`;

export class RedisStore implements SharedStore {
  readonly journal: RedisJournal;
  readonly books: RedisBooks;
  readonly budgets: RedisBudgets;
  readonly #options: RedisStoreOptions;
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #since = Date.now();
  #user: StoreUser | undefined;
  #members: readonly Member[] = [];
  /** When each lease was first found to have run out, and whose it was, if that is known. */
  readonly #lapsed = new Map<string, { readonly at: number; readonly member: Member | undefined }>();
  #isBeating = false;
  /** What this process has in Redis may be gone. */
  #mustWriteAgain = false;
  /** Resolves when the others have written theirs, or this one leaves. */
  #settled: Promise<void> = Promise.resolve();
  readonly #leaving = new AbortController();

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    const { secret, timeoutMs, log } = options;
    // Two clusters can share a Redis.
    const tag = clusterKey(secret, "keys").toString("base64url").slice(0, 12);
    // In a Redis Cluster, a script and a command of several keys need them at one node.
    this.#prefix = readRedisAddress(options.url).kind === "cluster" ? `goblin:{${tag}}:` : `goblin:${tag}:`;
    this.#leaseMs = 2 * timeoutMs;
    this.#redis = new Redis({
      url: options.url,
      timeoutMs: Math.min(COMMAND_MS, timeoutMs),
      connected: () => {
        log.info({}, "Redis is connected");
        if (this.#mustWriteAgain) this.#settled = this.#settle();
        this.books.up();
        void this.#beat();
      },
      failed: (reason) => {
        this.#mustWriteAgain = true;
        this.#members = [];
        this.books.down();
        this.budgets.down();
        log.warn(
          { reason },
          "Redis cannot be reached: until it is back, sessions of replicas that end lose their subscriptions, " +
            "new logins and grants stay at their replica, and each replica has an equal part of common limits",
        );
      },
    });
    const { id } = options.self;
    const shared = { redis: this.#redis, prefix: this.#prefix, secret, self: id };
    this.books = new RedisBooks(shared);
    const warn = (message: string): void => log.warn({}, message);
    this.budgets = new RedisBudgets({ ...shared, warn, replicas: () => this.#members.length });
    this.journal = new RedisJournal(this.#redis, { prefix: this.#prefix, keepMs: SESSION_MS, secret });
    this.#timer = setInterval(() => void this.#beat(), timeoutMs / 2).unref();
  }

  get isUp(): boolean {
    return this.#redis.isReady;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  get lost(): readonly Member[] {
    return [...this.#lapsed.values()].flatMap(({ member }) => member ?? []);
  }

  use(user: StoreUser): void {
    this.#user = user;
    void this.#beat();
  }

  async holder(id: string): Promise<Owner | undefined> {
    return ownerIn(await this.#redis.command("GET", this.#holderKey(id)));
  }

  async claim(id: string, from: Owner): Promise<Owner> {
    const own = ownerText(this.#options.self);
    const key = this.#holderKey(id);
    await this.#settled;
    const reply = await this.#redis.command("EVAL", SCRIPT, 1, key, own, from.id, SESSION_MS);
    return ownerIn(reply) ?? this.#options.self;
  }

  async isAlive({ id }: Owner): Promise<boolean> {
    return (await this.#redis.command("EXISTS", this.#memberKey(id))) === 1;
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    clearInterval(this.#timer);
    const { id } = this.#options.self;
    const left = [this.#redis.command("DEL", this.#memberKey(id)), this.#redis.command("SREM", this.#setKey, id)];
    await Promise.allSettled(left);
  }

  close(): void {
    clearInterval(this.#timer);
    this.budgets.close();
    this.#redis.close();
  }

  /** Renews the lease, and looks who else has one. */
  async #beat(): Promise<void> {
    if (this.#isBeating || this.#leaving.signal.aborted || !this.#redis.isReady || !this.#user) return;
    this.#isBeating = true;
    try {
      const { self } = this.#options;
      const times = { since: this.#since, lastSeen: Date.now() };
      const about: Omit<Member, "id"> = { ...this.#user.describe(), address: self.address, ...times };
      const key = this.#memberKey(self.id);
      const [before] = await Promise.all([
        this.#redis.command("GET", key),
        this.#redis.command("SET", key, JSON.stringify(about), "PX", this.#leaseMs),
        this.#redis.command("SADD", this.#setKey, self.id),
      ]);
      const isFirst = this.#members.length === 0;
      if (this.#mustWriteAgain || (before === null && !isFirst)) await this.#writeAgain();
      await this.#look();
    } catch {
      // Redis says so itself, once.
    } finally {
      this.#isBeating = false;
    }
  }

  /** One that leaves does not wait: its clients would. */
  async #settle(): Promise<void> {
    await pause(SETTLE_MS, undefined, { signal: this.#leaving.signal, ref: false }).catch(() => {});
  }

  async #look(): Promise<void> {
    const ids = textsIn(await this.#redis.command("SMEMBERS", this.#setKey)).slice(0, MAX_MEMBERS);
    const found = ids.length === 0 ? [] : await this.#redis.command("MGET", ...ids.map((id) => this.#memberKey(id)));
    const texts = Array.isArray(found) ? found : [];
    const before = this.#members;
    this.#members = ids.flatMap((id, i) => memberIn(id, texts[i]) ?? []);
    await this.#forget(
      ids.filter((_, i) => texts[i] === null),
      before,
    );
  }

  /**
   * Remembers the replicas whose lease ran out, and removes them from the set after a while. A
   * replica that leaves removes itself, so it is never among them.
   */
  async #forget(lapsed: readonly string[], before: readonly Member[]): Promise<void> {
    const now = Date.now();
    for (const id of this.#lapsed.keys()) if (!lapsed.includes(id)) this.#lapsed.delete(id);
    for (const id of lapsed) {
      if (!this.#lapsed.has(id)) this.#lapsed.set(id, { at: now, member: before.find((one) => one.id === id) });
    }
    const old = [...this.#lapsed].filter(([, { at }]) => now - at > LOST_MS).map(([id]) => id);
    if (old.length > 0) await this.#redis.command("SREM", this.#setKey, ...old);
  }

  /** Gives up what others took over meanwhile, and writes the rest down again. */
  async #writeAgain(): Promise<void> {
    const { self, isOwn } = this.#options;
    const ids = [...this.#user!.open()];
    for (let i = 0; i < ids.length; i += AT_ONCE) {
      const some = ids.slice(i, i + AT_ONCE);
      const held = await this.#redis.command("MGET", ...some.map((id) => this.#holderKey(id)));
      const owners = Array.isArray(held) ? held.map(ownerIn) : [];
      for (const [n, id] of some.entries()) {
        const owner = owners[n];
        if (owner && owner.id !== self.id) this.#user!.surrender(id);
        // Otherwise another replica could take over what this one took over.
        else if (!owner && !isOwn(id))
          await this.#redis.command("SET", this.#holderKey(id), ownerText(self), "PX", SESSION_MS, "NX");
      }
    }
    await this.journal.writeAgain();
    this.#mustWriteAgain = false;
  }

  get #setKey(): string {
    return `${this.#prefix}members`;
  }

  #memberKey(id: string): string {
    return `${this.#prefix}member:${id}`;
  }

  #holderKey(id: string): string {
    return `${this.#prefix}holder:${createHash("sha256").update(id).digest("base64url").slice(0, 24)}`;
  }
}

/** Returns undefined for a text that no replica wrote. */
function memberIn(id: string, text: Reply | undefined): Member | undefined {
  const about = parsed(text);
  if (!isRecord(about)) return undefined;
  const { address, version, revision, sessions, since, lastSeen } = about;
  const texts = [address, version, revision];
  const numbers = [sessions, since];
  if (texts.some((one) => typeof one !== "string") || numbers.some((one) => typeof one !== "number")) return undefined;
  // A replica of an earlier version does not say when it renewed its lease.
  const seen = typeof lastSeen === "number" ? lastSeen : Date.now();
  // Each was found to have its type above.
  return { id, address, version, revision, sessions, since, lastSeen: seen } as Member;
}

function ownerText({ id, address }: Owner): string {
  return JSON.stringify([id, address]);
}

function ownerIn(reply: Reply | undefined): Owner | undefined {
  const owner = parsed(reply);
  if (!Array.isArray(owner)) return undefined;
  const [id, address] = owner as readonly unknown[];
  return typeof id === "string" && typeof address === "string" ? { id, address } : undefined;
}

/** Returns undefined for what is no JSON: anybody with access to Redis may have written it. */
function parsed(reply: Reply | undefined): unknown {
  try {
    return typeof reply === "string" ? JSON.parse(reply) : undefined;
  } catch {
    return undefined;
  }
}

function textsIn(reply: Reply): string[] {
  return Array.isArray(reply) ? reply.filter((one): one is string => typeof one === "string") : [];
}
