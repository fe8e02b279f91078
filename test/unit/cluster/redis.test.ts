/** The client for Redis against a real one that is stopped, restarted, or somebody else. */
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Redis } from "../../../src/cluster/redis/redis.ts";
import { readRedisAddress } from "../../../src/config/cluster/redis-address.ts";
import { disposeAll, onDispose, until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis, startRedisCluster, startSentinels } from "../../fixtures/redis.ts";

afterEach(disposeAll);

/** `timeoutMs`: long enough for a busy machine, unless Redis is not to answer. */
function open(url: string, timeoutMs = 30_000) {
  const failures: string[] = [];
  let connections = 0;
  const connected = () => void connections++;
  const redis = new Redis({ url, timeoutMs, connected, failed: (reason) => failures.push(reason) });
  onDispose(() => redis.close());
  return { redis, failures, connections: () => connections };
}

describe.skipIf(!hasProgram("redis-server"))("the client for Redis", () => {
  it("answers in order, and rejects what Redis refuses", async () => {
    const { url } = await startRedis();
    const { redis } = open(`${url}/3`);
    await until(() => redis.isReady, { what: "a connection" });
    const replies = await Promise.all([
      redis.command("SET", "k", "wört\r\n"),
      redis.command("GET", "k"),
      redis.command("INCR", "n"),
      redis.command("MGET", "k", "none"),
    ]);
    expect(replies).toEqual(["OK", "wört\r\n", 1, ["wört\r\n", null]]);
    await expect(redis.command("INCR", "k")).rejects.toThrow(/not an integer/);
    expect(await redis.command("GET", "k")).toBe("wört\r\n");
  });

  it("fails at once without Redis, says so once, and finds it again", async () => {
    const server = await startRedis();
    const { redis, failures, connections } = open(server.url);
    await until(() => redis.isReady, { what: "a connection" });
    await server.stop();
    await until(() => !redis.isReady, { what: "the end of the connection" });
    await expect(redis.command("PING")).rejects.toThrow("Redis is not connected");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(failures).toHaveLength(1);
    await server.start();
    await until(() => redis.isReady, { what: "a connection again" });
    expect(connections()).toBe(2);
    expect(await redis.command("PING")).toBe("PONG");
  });

  it("does not wait for a Redis that is stopped", async () => {
    const server = await startRedis();
    const { redis } = open(server.url, 200);
    await until(() => redis.isReady, { what: "a connection" });
    server.signal("SIGSTOP");
    const commands = Array.from({ length: 50 }, () => redis.command("PING"));
    const outcomes = await Promise.allSettled(commands);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    server.signal("SIGCONT");
    await until(() => redis.isReady, { what: "a connection again" });
    expect(await redis.command("PING")).toBe("PONG");
  });

  it("leaves what does not speak like Redis, and a wrong password", async () => {
    const sockets = new Set<Socket>();
    const other = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onDispose(() => other.close());
    const stranger = open(`redis://127.0.0.1:${(other.address() as { port: number }).port}`);
    await until(() => stranger.failures.length > 0, { what: "a failure" });
    expect(stranger.failures[0]).toBe("the other side does not speak Redis's protocol");
    const { url } = await startRedis();
    const locked = open(url.replace("redis://", "redis://user:wrong@"));
    await until(() => locked.failures.length > 0, { what: "a failure" });
    expect(locked.failures[0]).toMatch(/WRONGPASS|ERR/);
    expect(locked.failures[0]).not.toContain("wrong@");
    expect(locked.redis.isReady).toBe(false);
  });

  it.each([
    ["ERR unknown command 'AUTH', with args beginning with: 'ada' 'hunter/22' ", "ERR unknown command 'AUTH'"],
    ["WRONGPASS hunter/22 is not the password of ada", "WRONGPASS *** is not the password of ***"],
    [`ERR ${"x".repeat(100_000)}`, `ERR ${"x".repeat(496)}`],
  ])("says nothing of the password, nor more than a line, though Redis does (%#)", async (told, said) => {
    const other = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(`-${told}\r\n`);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onDispose(() => other.close());
    const { failures } = open(`redis://ada:hunter%2F22@127.0.0.1:${(other.address() as { port: number }).port}`);
    await until(() => failures.length > 0, { what: "a failure" });
    expect(failures[0]).toBe(said);
  });

  it("follows Sentinel to the new master after a failover, with a password", async () => {
    const { url, killMaster } = await startSentinels("hunter22");
    const { redis, failures } = open(url);
    await until(() => redis.isReady, { what: "a connection" });
    expect(await redis.command("SET", "k", "before")).toBe("OK");
    await until(async () => (await redis.command("WAIT", 1, 100)) === 1, { what: "the replica to have it" });
    await killMaster();
    await until(() => failures.length === 1, { what: "the loss to be seen" });
    await until(async () => redis.isReady && (await redis.command("SET", "n", 1).catch(() => "")) === "OK", {
      what: "the new master",
    });
    expect(await redis.command("GET", "k")).toBe("before");
  });

  it("finds the node of each key in a Redis Cluster of three, and the keys of a script at one", async () => {
    const { url } = await startRedisCluster();
    const { redis } = open(url);
    await until(() => redis.isReady, { what: "a connection" });
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => redis.command("SET", key, key)));
    expect(await Promise.all(keys.map((key) => redis.command("GET", key)))).toEqual(keys);
    const script = 'redis.call("SET", KEYS[1], "a"); redis.call("SET", KEYS[2], "b"); return 2';
    expect(await redis.command("EVAL", script, 2, "{t}:1", "{t}:2")).toBe(2);
    expect(await redis.command("MGET", "{t}:1", "{t}:2")).toEqual(["a", "b"]);
  });
});

describe("the address of Redis", () => {
  it.each([
    ["redis://r", { kind: "single", hosts: [{ host: "r", port: 6379 }], isSecure: false, database: 0 }],
    [
      "rediss://ada:p%40ss@[::1]:7000/3",
      { hosts: [{ host: "::1", port: 7000 }], isSecure: true, username: "ada", password: "p@ss", database: 3 },
    ],
    [
      "redis+sentinel://:secret@a,b:1/main/2",
      {
        kind: "sentinel",
        hosts: [
          { host: "a", port: 26379 },
          { host: "b", port: 1 },
        ],
        name: "main",
        database: 2,
      },
    ],
    [
      "rediss+cluster://a:1,b:2",
      {
        kind: "cluster",
        isSecure: true,
        hosts: [
          { host: "a", port: 1 },
          { host: "b", port: 2 },
        ],
      },
    ],
  ])("%s", (text, address) => {
    expect(readRedisAddress(text)).toMatchObject(address);
  });

  it.each([
    ["http://r", "expected an address such as redis://redis.internal:6379"],
    ["redis://a,b", "several hosts need redis+sentinel:// or redis+cluster:// in front of them"],
    ["redis+sentinel://a", "expected the name of the set, as in redis+sentinel://host:26379/mymaster"],
    ["redis+cluster://a/1", "a Redis Cluster has only database 0"],
    ["redis://r/x", 'expected a database number instead of "/x"'],
    ["redis://a:b:c", 'expected host:port instead of "a:b:c"'],
    ["redis://%zz@r", "the user and the password must be percent-encoded"],
  ])("%s is refused: %s", (text, why) => {
    expect(() => readRedisAddress(text)).toThrow(why);
  });
});
