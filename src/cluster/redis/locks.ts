/**
 * Locks between replicas, for what must be done once: a refresh token that is used twice ends the
 * whole login at many authorization servers.
 *
 * A lock is a lease, so that nobody waits for a replica that died. A holder asks again before it
 * uses a thing up, and leaves a mark that it does. The next holder finds the mark, and leaves the
 * thing alone: the first one may be cut off from Redis, and have what came of it. A Redis
 * that was gone may have forgotten locks and marks, so nothing is locked for a moment after that.
 */
import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Hold } from "../../auth/secrets/shared/shared-place.ts";
import { clusterKey } from "../owners.ts";
import type { RedisBooksOptions } from "./books.ts";

/** No work under a lock takes this long: a request for a token has ten seconds. */
const LEASE_MS = 30_000;
const USE_MS = 12_000;
/** How long a thing is left alone that another replica began to use. */
const MARK_MS = 120_000;
const WAIT_MS = 40_000;
const RETRY_MS = 50;
/** A lock without a valid lease was not written by a replica: nothing would ever end it. */
const TAKE = `local left = redis.call("PTTL", KEYS[1])
if left >= 0 and left <= tonumber(ARGV[2]) then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`;
const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;
const USE = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return "lost" end
local left = redis.call("PTTL", KEYS[2])
local isMarked = left >= 0 and left <= tonumber(ARGV[3])
if isMarked and redis.call("GET", KEYS[2]) ~= ARGV[2] then return "marked" end
redis.call("SET", KEYS[2], ARGV[2], "PX", ARGV[3])
return "own"`;
const WHY: Readonly<Record<string, string>> = {
  lost: "the lock between the replicas was lost",
  marked: "another replica began to use it, and has not said what came of it",
};

export class RedisLocks {
  readonly #options: RedisBooksOptions;
  readonly #key: Buffer;
  #wasUp = false;
  #waitUntil = 0;

  constructor(options: RedisBooksOptions) {
    this.#options = options;
    this.#key = clusterKey(options.secret, "locks");
  }

  /** Redis is there, perhaps again. */
  up(): void {
    if (this.#wasUp) this.#waitUntil = performance.now() + USE_MS;
    this.#wasUp = true;
  }

  /** Runs the work when the lock is free. Rejects without it if Redis does not answer. */
  async hold<T>(name: string, work: (hold: Hold) => Promise<T>): Promise<T> {
    const { redis } = this.#options;
    const key = this.#named("lock", name);
    const token = randomBytes(12).toString("base64url");
    const since = performance.now();
    let until = await this.#take(key, token);
    for (; until === undefined; until = await this.#take(key, token)) {
      if (performance.now() - since > WAIT_MS) throw new Error("other replicas hold the lock all the time");
      await pause(RETRY_MS * (1 + Math.random()));
    }
    try {
      return await work(this.#holdOf(key, token, until));
    } finally {
      // Otherwise the lease ends it.
      await redis.command("EVAL", RELEASE, 1, key, token).catch(() => {});
    }
  }

  /** Returns when the lease ends; undefined: another replica has it. */
  async #take(key: string, token: string): Promise<number | undefined> {
    const { redis } = this.#options;
    const asked = performance.now();
    if (asked < this.#waitUntil) {
      if (!redis.isReady) throw new Error("Redis is not connected");
      return undefined;
    }
    const reply = await redis.command("EVAL", TAKE, 1, key, token, LEASE_MS);
    return reply === 1 ? asked + LEASE_MS : undefined;
  }

  #holdOf(key: string, token: string, until: number): Hold {
    const { redis, self } = this.#options;
    return {
      use: async (thing) => {
        try {
          const mark = this.#named("used", thing);
          const state = String(await redis.command("EVAL", USE, 2, key, mark, token, self, MARK_MS));
          const isLate = until - performance.now() < USE_MS;
          return isLate ? WHY["lost"] : WHY[state];
        } catch {
          return "Redis cannot be reached, so another replica may use it at the same time";
        }
      },
      used: async (thing) => void (await redis.command("DEL", this.#named("used", thing)).catch(() => {})),
    };
  }

  #named(kind: string, name: string): string {
    const digest = createHmac("sha256", this.#key).update(name).digest("base64url").slice(0, 24);
    return `${this.#options.prefix}${kind}:${digest}`;
  }
}
