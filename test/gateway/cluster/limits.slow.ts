/** Limits that hold for all replicas together, with a real Redis. */
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { startHostile } from "../../fixtures/hostile.ts";
import { disposeAll, startScripted, until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";
import { type Replicas, startReplicas } from "../../fixtures/replicas.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const met = ({ all }: Replicas) =>
  until(() => all.every(({ gateway }) => gateway.cluster()!.replicas.length === all.length), { what: "to meet" });

describe.skipIf(!hasProgram("redis-server"))("limits of replicas", () => {
  it("a server has no more calls under way than its limit, wherever they come from", async () => {
    const redis = await startRedis();
    let running = 0;
    let most = 0;
    const server = await startHostile({
      methods: {
        "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
        "tools/call": async () => {
          most = Math.max(most, ++running);
          await pause(30);
          running--;
          return { content: [{ type: "text", text: "done" }] };
        },
      },
    });
    const limits = { inFlightPerServer: 16 };
    const config = { mcpServers: { one: server.entry }, limits };
    const replicas = await startReplicas(3, config, { redis: redis.url, timeoutMs: 500 });
    await met(replicas);
    // The parts are given four times in a second.
    await pause(1000);
    const work = async (url: string) => {
      const { message } = await stateless(url).call("tools/call", { name: "one_work", arguments: {} });
      return message.result?.content?.[0]?.text ?? JSON.stringify(message);
    };
    const everywhere = replicas.all.flatMap(({ url }) => Array.from({ length: 40 }, () => work(url)));
    expect(new Set(await Promise.all(everywhere))).toEqual(new Set(["done"]));
    expect(most).toBeLessThanOrEqual(16);
    most = 0;
    const here = Array.from({ length: 100 }, () => work(replicas.all[1]!.url));
    expect(new Set(await Promise.all(here))).toEqual(new Set(["done"]));
    expect(most).toBeLessThanOrEqual(16);
    // One replica alone gets nearly all, and the account half of that.
    expect(most).toBeGreaterThanOrEqual(5);
  });

  it("a program, of which each replica has its own, has all its places at each", async () => {
    const redis = await startRedis();
    const config = {
      mcpServers: { one: (await startScripted({ name: "one" })).entry },
      limits: { inFlightPerServer: 6 },
    };
    const replicas = await startReplicas(3, config, { redis: redis.url, timeoutMs: 500 });
    await met(replicas);
    await pause(600);
    const { url, gateway } = replicas.all[0]!;
    const params = { name: "one_sleep", arguments: { ms: 400 } };
    const calls = Array.from({ length: 3 }, () => stateless(url).call("tools/call", params));
    await until(() => gateway.servers.status("one")?.inFlight === 3, { what: "three calls under way" });
    for (const { message } of await Promise.all(calls)) expect(message.error).toBeUndefined();
  });

  it("a client without a session has one rate at all replicas", async () => {
    const redis = await startRedis();
    const server = await startScripted({ name: "one", transport: "http" });
    const config = { mcpServers: { one: server.entry }, limits: { callsPerSecond: 20 } };
    const replicas = await startReplicas(3, config, { redis: redis.url, timeoutMs: 500 });
    await met(replicas);
    await pause(500);
    const clients = replicas.all.map(({ url }) => stateless(url));
    const began = performance.now();
    let passed = 0;
    let refused = 0;
    while (performance.now() - began < 2500) {
      const params = { name: "one_echo", arguments: { text: "x" } };
      const answers = await Promise.all(clients.map((client) => client.call("tools/call", params)));
      for (const { message } of answers) message.error ? refused++ : passed++;
      await pause(5);
    }
    const seconds = (performance.now() - began) / 1000;
    expect(refused).toBeGreaterThan(0);
    // One bucket that is full at first. Three gateways that know nothing of each other: three
    // times.
    expect(passed).toBeLessThanOrEqual(20 * (seconds + 1) * 1.25);
    expect(passed).toBeGreaterThanOrEqual(20 * seconds * 0.5);
  });
});
