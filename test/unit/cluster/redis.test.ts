/** The client for Redis against a real one that is stopped, restarted, or somebody else. */
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Redis } from "../../../src/cluster/redis/redis.ts";
import { disposeAll, onDispose, until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";

afterEach(disposeAll);

function open(url: string) {
  const failures: string[] = [];
  let connections = 0;
  const connected = () => void connections++;
  const redis = new Redis({ url, timeoutMs: 200, connected, failed: (reason) => failures.push(reason) });
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
    const { redis } = open(server.url);
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
  ])("says nothing of the password, nor more than a line, though Redis does: %s", async (told, said) => {
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
});
