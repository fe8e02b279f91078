/** Replicas with a real Redis: what outlives the replica that held a session, and what does not. */
import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { disposeAll, type RawHttp, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { hasProgram, type RunningRedis, startRedis } from "../../fixtures/redis.ts";
import { type Replicas, startReplicas } from "../../fixtures/replicas.ts";

afterEach(disposeAll);

const HELLO = "one+text:///hello";
const isUpdate = ({ method }: { method?: string }) => method === "notifications/resources/updated";

function at({ all }: Replicas, i: number, { headers }: RawHttp): RawHttp {
  return Object.assign(rawHttp(all[i]!.url), { headers });
}

/** Waits until every replica knows of all others. */
async function met({ all }: Replicas): Promise<void> {
  const knowAll = () => all.every(({ gateway }) => gateway.cluster()!.replicas.length === all.length);
  await until(knowAll, { what: "the replicas to meet" });
}

describe.skipIf(!hasProgram("redis-server"))("with Redis", () => {
  it("one replica takes over a session with its subscriptions and log level, and tells of each once", async () => {
    const redis = await startRedis();
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(3, { mcpServers: { one: server.entry } }, { redis: redis.url });
    await met(replicas);
    const first = rawHttp(replicas.all[0]!.url);
    await first.initialize();
    await first.call("resources/subscribe", { uri: HELLO });
    await first.call("logging/setLevel", { level: "error" });
    await replicas.all[0]!.gateway.close();
    const [second, third] = [at(replicas, 1, first), at(replicas, 2, first)];
    const stream = await second.stream({ verb: "GET" });
    await stream.next(isUpdate);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => stream.messages.filter(isUpdate).length === 2, { what: "a real update" });
    // The other one hands the session to the one that took it over.
    const logged = await third.call("tools/call", { name: "one_log", arguments: { level: "info", text: "low" } });
    expect(logged.messages.filter(({ method }) => method === "notifications/message")).toEqual([]);
    expect(replicas.all[2]!.gateway.rows.sessions()).toEqual([]);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => stream.messages.filter(isUpdate).length === 3, { what: "one more update" });
    expect(stream.messages.map(({ params }) => params.uri)).toEqual([HELLO, HELLO, HELLO]);
  });

  it("a session that was ended stays ended at every replica", async () => {
    const redis = await startRedis();
    const replicas = await startReplicas(3, { mcpServers: {} }, { redis: redis.url });
    await met(replicas);
    const raw = rawHttp(replicas.all[0]!.url);
    await raw.initialize();
    expect((await at(replicas, 1, raw).delete()).status).toBe(204);
    await replicas.all[0]!.gateway.close();
    for (const i of [1, 2]) expect((await at(replicas, i, raw).call("ping")).status).toBe(404);
  });

  it("the replicas know each other, and each other's config", async () => {
    const redis = await startRedis();
    const replicas = await startReplicas(2, { mcpServers: {} }, { redis: redis.url });
    await met(replicas);
    const [one, two] = replicas.all[0]!.gateway.cluster()!.replicas;
    expect(one!.revision).toBe(two!.revision);
    expect(one!.revision).toMatch(/^[0-9a-f]{8}$/);
    await replicas.all[1]!.gateway.close();
    await until(() => replicas.all[0]!.gateway.cluster()!.replicas.length === 1, { what: "the other to leave" });
  });

  it("goes on without Redis, says once what is lost, and heals", async () => {
    const redis = await startRedis();
    const server = await startScripted({ name: "one", transport: "http" });
    const config = { mcpServers: { one: server.entry } };
    const replicas = await startReplicas(3, config, { redis: redis.url, timeoutMs: 400 });
    await met(replicas);
    const first = rawHttp(replicas.all[0]!.url);
    await first.initialize();
    await redis.stop();
    const lost = () => replicas.all[0]!.logs.filter(({ msg }) => msg.startsWith("Redis cannot be reached"));
    await until(() => lost().length > 0, { what: "the line in the log" });
    await first.call("resources/subscribe", { uri: HELLO });
    for (const i of [0, 1, 2]) expect((await at(replicas, i, first).call("ping")).status).toBe(200);
    expect(lost()).toHaveLength(1);
    const health = async () => (await fetch(`${replicas.all[1]!.origin}/health`)).json();
    expect(await health()).toEqual({ status: "ok", redis: "lost" });
    await redis.start();
    const connected = () => replicas.all.every(({ gateway }) => gateway.cluster()!.redis === "connected");
    await until(connected, { what: "the replicas to find Redis again" });
    await met(replicas);
    expect(await health()).toEqual({ status: "ok", redis: "connected" });
    const answer = await fetch(`${replicas.all[1]!.origin}/api/state`);
    expect(await answer.json()).toMatchObject({ cluster: { redis: "connected", handedOver: 0 } });
    const sessions = () => replicas.all[1]!.gateway.cluster()!.replicas.map((replica) => replica.sessions);
    await until(() => sessions().sort().join() === "0,0,1", { what: "the count of sessions" });
    // What was written while Redis was gone is there now.
    await replicas.all[0]!.gateway.close();
    const stream = await at(replicas, 1, first).stream({ verb: "GET" });
    await stream.next(isUpdate);
    expect((await at(replicas, 2, first).call("ping")).status).toBe(200);
    expect(replicas.all[2]!.gateway.rows.sessions()).toEqual([]);
  });
});

describe.skipIf(!hasProgram("redis-server"))("a Redis that somebody else writes to", () => {
  const cli = ({ url }: RunningRedis, ...words: string[]): string =>
    execFileSync("redis-cli", ["-u", url, ...words], { encoding: "utf8" }).trim();
  const keysOf = (redis: RunningRedis, kind: string): string[] =>
    cli(redis, "KEYS", `goblin:*:${kind}:*`)
      .split("\n")
      .filter((key) => key !== "");

  it("names nothing that a session subscribed to, and cannot give one session what another had", async () => {
    const redis = await startRedis();
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(2, { mcpServers: { one: server.entry } }, { redis: redis.url });
    await met(replicas);
    const [ada, eve] = [rawHttp(replicas.all[0]!.url), rawHttp(replicas.all[0]!.url)];
    await ada.initialize();
    await ada.call("resources/subscribe", { uri: HELLO });
    await until(() => keysOf(redis, "session").length === 1, { what: "the journal of Ada" });
    const [hers] = keysOf(redis, "session");
    await eve.initialize();
    await eve.call("logging/setLevel", { level: "error" });
    await until(() => keysOf(redis, "session").length === 2, { what: "the journal of Eve" });
    const his = keysOf(redis, "session").find((key) => key !== hers)!;
    const fields = cli(redis, "HGETALL", hers!).split("\n");
    expect(fields.join()).not.toContain("hello");
    // What Ada subscribed to, and what nobody wrote.
    cli(redis, "HSET", his, fields[0]!, fields[1]!, "level", "debug", '["one","text:///hello"]', "x");
    cli(redis, "HSET", hers!, "odd", "%%%");
    await replicas.all[0]!.gateway.close();
    const [toAda, toEve] = [
      await at(replicas, 1, ada).stream({ verb: "GET" }),
      await at(replicas, 1, eve).stream({ verb: "GET" }),
    ];
    await toAda.next(isUpdate);
    await server.control("touch", { uri: "text:///hello" });
    await until(() => toAda.messages.filter(isUpdate).length === 2, { what: "the update of Ada" });
    expect((await at(replicas, 1, eve).call("ping")).status).toBe(200);
    expect(toEve.messages).toEqual([]);
  });

  it.each(["garbage", "{}", "[1,2]", "null", '["only-one"]'])(
    "goes on with %s in place of all it wrote",
    async (bad) => {
      const redis = await startRedis();
      const server = await startScripted({ name: "one", transport: "http" });
      const replicas = await startReplicas(
        3,
        { mcpServers: { one: server.entry } },
        { redis: redis.url, timeoutMs: 500 },
      );
      await met(replicas);
      const raw = rawHttp(replicas.all[0]!.url);
      await raw.initialize();
      await replicas.all[0]!.gateway.close();
      expect((await at(replicas, 1, raw).call("ping")).status).toBe(200);
      const [holder] = keysOf(redis, "holder");
      cli(redis, "SET", holder!, bad);
      cli(redis, "SET", keysOf(redis, "member")[0]!, bad);
      cli(redis, "SET", `${keysOf(redis, "member")[0]!}x`, bad);
      // One of them has the session; the other one must not lose a request.
      for (const i of [2, 1, 2]) expect((await at(replicas, i, raw).call("ping")).status).toBe(200);
      const params = { name: "one_echo", arguments: { text: "hi" } };
      expect(JSON.stringify((await at(replicas, 1, raw).call("tools/call", params)).message)).toContain("hi");
      await until(() => replicas.all[1]!.gateway.cluster()!.replicas.length === 2, { what: "the members again" });
    },
  );
});
