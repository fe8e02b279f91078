/** Books that replicas share through a real Redis, and what somebody with access to it can do. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SealedFile } from "../../../src/auth/secrets/sealed-file.ts";
import { SharedFile } from "../../../src/auth/secrets/shared/shared-file.ts";
import type { BookForm } from "../../../src/auth/secrets/shared/stamped-book.ts";
import { RedisBooks } from "../../../src/cluster/redis/books.ts";
import { Redis } from "../../../src/cluster/redis/redis.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { hasProgram, type RunningRedis, startRedis } from "../../fixtures/redis.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

type Book = Readonly<Record<"words", Readonly<Record<string, string>>>>;
const FORM: BookForm<Book> = {
  entries: ({ words }) => new Map(Object.entries(words)),
  content: (entries) => ({ words: Object.fromEntries(entries) }),
};

interface Replica {
  readonly folder: string;
  readonly books: RedisBooks;
  readonly file: SharedFile<Book>;
  readonly warnings: string[];
  words(): Promise<Record<string, string>>;
  put(name: string, text: string | undefined): Promise<void>;
  close(): void;
}

const KEY = randomBytes(32);

async function replica(redis: RunningRedis, options: { folder?: string; secret?: string; self?: string } = {}) {
  const { secret = "secret", self = randomBytes(6).toString("hex") } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "goblin-books-"));
  const connection: Redis = new Redis({
    url: redis.url,
    timeoutMs: 500,
    connected: () => books.up(),
    failed: () => books.down(),
  });
  const books: RedisBooks = new RedisBooks({ redis: connection, prefix: "t:", secret, self });
  const sealed = new SealedFile<Book>({ folder, key: KEY, name: "words", empty: { words: {} }, remedy: "-" });
  const place = books.book("words");
  const warnings: string[] = [];
  const file = new SharedFile({ sealed, form: FORM, place, warn: (message) => warnings.push(message) });
  const close = (): void => {
    file.close();
    connection.close();
  };
  onDispose(() => {
    close();
    rmSync(folder, { recursive: true, force: true });
  });
  await place.settled();
  await file.look();
  const made: Replica = {
    folder,
    books,
    file,
    warnings,
    words: async () => ({ ...(await sealed.read()).words }),
    async put(name, text) {
      await file.change(({ words: { [name]: _, ...rest }, ...book }) => ({
        ...book,
        words: text === undefined ? rest : { ...rest, [name]: text },
      }));
    },
    close,
  };
  return made;
}

const holds = (one: Replica, words: Record<string, string>) =>
  until(
    async () => JSON.stringify(Object.entries(await one.words()).sort()) === JSON.stringify(Object.entries(words)),
    {
      what: `the book to be ${JSON.stringify(words)}`,
    },
  );

const cli = ({ url }: RunningRedis, ...words: string[]): string =>
  execFileSync("redis-cli", ["-u", url, ...words], { encoding: "utf8" }).trim();

const VALUES = "t:book:words:values";

describe.skipIf(!hasProgram("redis-server"))("books in Redis", () => {
  it("a change, and a removal, reach every replica", async () => {
    const redis = await startRedis();
    const [one, two] = [await replica(redis), await replica(redis)];
    await one.put("a", "1");
    await holds(two, { a: "1" });
    await two.put("b", "2");
    await two.put("a", undefined);
    await holds(one, { b: "2" });
  });

  it("no change is lost when replicas change at the same time", async () => {
    const redis = await startRedis();
    const all = [await replica(redis), await replica(redis), await replica(redis)];
    const count = (one: Replica) =>
      one.file.change((book) => ({ ...book, words: { n: String(Number(book.words["n"] ?? 0) + 1) } }));
    await Promise.all(all.flatMap((one) => [1, 2, 3, 4].map(() => count(one))));
    for (const one of all) await holds(one, { n: "12" });
  });

  it("nothing in Redis can be read", async () => {
    const redis = await startRedis();
    const one = await replica(redis);
    await one.put("the-name", "the-text");
    const [field, value] = cli(redis, "HGETALL", VALUES).split("\n");
    expect(value!.length).toBeGreaterThan(20);
    for (const text of [field!, value!, Buffer.from(value!, "base64").toString("latin1")]) {
      expect(text).not.toContain("the-name");
      expect(text).not.toContain("the-text");
    }
  });

  it.each(["garbage", "a value of another secret", "a value of another name", "a number", "nothing"])(
    "ignores %s in place of a value, and writes its own again",
    async (kind) => {
      const redis = await startRedis();
      const one = await replica(redis);
      await one.put("a", "1");
      await one.put("b", "2");
      const other = await replica(redis, { secret: "another" });
      await other.put("a", "evil");
      expect(await other.words()).toEqual({ a: "evil" });
      const [first, second, foreign] = cli(redis, "ZRANGE", "t:book:words:order", "0", "-1").split("\n");
      const textOf = (field: string) => cli(redis, "HGET", VALUES, field);
      const bad: Record<string, string> = {
        garbage: "%%% \u0001",
        "a value of another secret": textOf(foreign!),
        "a value of another name": textOf(second!),
        "a number": "7",
        nothing: "",
      };
      cli(redis, "HSET", VALUES, first!, bad[kind]!);
      const fresh = await replica(redis);
      expect(await fresh.words()).toEqual({ b: "2" });
      one.close();
      const again = await replica(redis, { folder: one.folder });
      expect(await again.words()).toEqual({ a: "1", b: "2" });
      await holds(fresh, { a: "1", b: "2" });
    },
  );

  it("neither huge values, nor garbage without end, nor long names keep replicas from their book", async () => {
    const redis = await startRedis();
    const one = await replica(redis);
    await one.put("a", "1");
    const fill = `for i = 1, 100 do
      redis.call("HSET", "${VALUES}", "field" .. i, string.rep("A", 1000000))
      redis.call("ZADD", "t:book:words:order", 1, "field" .. i)
    end
    redis.call("ZADD", "t:book:words:order", 1, string.rep("n", 20000000))`;
    cli(redis, "EVAL", fill, "0");
    const two = await replica(redis);
    expect(await two.words()).toEqual({ a: "1" });
    await two.put("b", "2");
    await holds(one, { a: "1", b: "2" });
    expect([...one.warnings, ...two.warnings]).toEqual([]);
  });

  it("a book that is full of garbage costs the sharing and nothing else", async () => {
    const redis = await startRedis();
    const fill = 'for i = 1, 100001 do redis.call("ZADD", "t:book:words:order", 1, i) end';
    cli(redis, "EVAL", fill, "0");
    const one = await replica(redis);
    await one.put("a", "1");
    expect(await one.words()).toEqual({ a: "1" });
    expect(one.warnings[0]).toContain("the book has more than 100000 entries");
  });

  it("an old value that comes back is replaced by the newer one that a replica knows", async () => {
    const redis = await startRedis();
    const one = await replica(redis);
    await one.put("a", "old");
    const [field, value] = cli(redis, "HGETALL", VALUES).split("\n");
    await one.put("a", "new");
    cli(redis, "HSET", VALUES, field!, value!);
    one.close();
    const again = await replica(redis, { folder: one.folder });
    expect(await again.words()).toEqual({ a: "new" });
    expect(await (await replica(redis)).words()).toEqual({ a: "new" });
  });

  it.each(["version", "order", "values"])(
    "a key of another type (%s) costs the sharing and nothing else",
    async (key) => {
      const redis = await startRedis();
      cli(redis, "LPUSH", `t:book:words:${key}`, "x");
      const one = await replica(redis);
      await one.put("a", "1");
      expect(await one.words()).toEqual({ a: "1" });
      await until(() => one.warnings.length > 0, { what: "a warning" });
      expect(one.warnings[0]).toContain("WRONGTYPE");
      cli(redis, "FLUSHALL");
      const two = await replica(redis);
      await holds(two, { a: "1" });
      expect(one.warnings).toHaveLength(1);
    },
  );

  it("a version that is garbage is replaced", async () => {
    const redis = await startRedis();
    const one = await replica(redis);
    await one.put("a", "1");
    cli(redis, "SET", "t:book:words:version", "what");
    await one.put("b", "2");
    expect(await (await replica(redis)).words()).toEqual({ a: "1", b: "2" });
  });

  it("what each replica changed while Redis was gone is together when it is back, also empty", async () => {
    const redis = await startRedis();
    const [one, two] = [await replica(redis), await replica(redis)];
    await one.put("a", "1");
    await one.put("gone", "1");
    await holds(two, { a: "1", gone: "1" });
    await redis.stop();
    await one.put("b", "2");
    await two.put("c", "3");
    await two.put("gone", undefined);
    expect(await one.words()).toEqual({ a: "1", b: "2", gone: "1" });
    await redis.start();
    for (const each of [one, two]) await holds(each, { a: "1", b: "2", c: "3" });
  });
});

describe.skipIf(!hasProgram("redis-server"))("locks in Redis", () => {
  it("one replica at a time does the work", async () => {
    const redis = await startRedis();
    const all = [await replica(redis), await replica(redis), await replica(redis)];
    let running = 0;
    const most: number[] = [];
    const work = async () => {
      most.push(++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
    };
    await Promise.all([...all, ...all].map((one) => one.books.book("words").hold("x", work)));
    expect(most).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("who lost the lock uses nothing up, and what one began to use, others leave alone", async () => {
    const redis = await startRedis();
    const [one, two] = [await replica(redis), await replica(redis)];
    const [first, second] = [one.books.book("words"), two.books.book("words")];
    await first.hold("x", async (hold) => {
      expect(await hold.use("token")).toBeUndefined();
      // Redis lost its memory of the lock, or the lease ended while this process slept.
      cli(redis, "DEL", ...cli(redis, "KEYS", "t:lock:*").split("\n"));
      expect(await hold.use("token")).toBe("the lock between the replicas was lost");
      await second.hold("x", async (next) => {
        expect(await next.use("token")).toBe("another replica began to use it, and has not said what came of it");
        expect(await next.use("another token")).toBeUndefined();
      });
      await hold.used("token");
    });
    await second.hold("x", async (next) => expect(await next.use("token")).toBeUndefined());
  });

  it.each(["never ends", "ends in a year", "is a list"])(
    "a lock, and a mark, that no replica wrote and that %s, blocks nobody",
    async (kind) => {
      const redis = await startRedis();
      const one = await replica(redis);
      const book = one.books.book("words");
      const keys: string[] = [];
      await book.hold("x", async (hold) => {
        await hold.use("token");
        keys.push(...cli(redis, "KEYS", "t:lock:*").split("\n"), ...cli(redis, "KEYS", "t:used:*").split("\n"));
      });
      expect(keys).toHaveLength(2);
      for (const key of keys) {
        cli(redis, "DEL", key);
        if (kind === "is a list") cli(redis, "LPUSH", key, "evil");
        else cli(redis, "SET", key, "evil", ...(kind === "never ends" ? [] : ["EX", "31536000"]));
      }
      const said = await one.file.exclusively("x", (hold) => hold.use("token"));
      expect(said).toBeUndefined();
    },
    20_000,
  );

  it("without Redis, nothing is used up", async () => {
    const redis = await startRedis();
    const one = await replica(redis);
    await redis.stop();
    await until(() => !one.books.book("words").isUp, { what: "the replica to notice" });
    const said = await one.file.exclusively("x", (hold) => hold.use("token"));
    expect(said).toBe("Redis is not connected, so another replica may use it at the same time");
  });
});
