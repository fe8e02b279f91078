/** Limits that replicas divide through a real Redis. */
import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { RedisBudgets } from "../../../src/cluster/redis/budgets.ts";
import { Redis } from "../../../src/cluster/redis/redis.ts";
import { equalPart } from "../../../src/lib/structures/shared-budget.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { hasProgram, type RunningRedis, startRedis } from "../../fixtures/redis.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

interface Part {
  readonly self: string;
  part: number;
  demand: number;
  inUse: number;
  /** How often Redis did not answer in time. */
  downs: number;
  readonly warnings: string[];
}

interface Scene {
  readonly redis: RunningRedis;
  readonly all: readonly Part[];
}

async function scene(limit: number, { isWhole = true, count = 3 } = {}): Promise<Scene> {
  const redis = await startRedis();
  const all = Array.from({ length: count }, (_, i) => {
    const one: Part = { self: `replica-${i}`, part: Number.NaN, demand: 0, inUse: 0, downs: 0, warnings: [] };
    const connection: Redis = new Redis({
      url: redis.url,
      timeoutMs: 500,
      connected: () => {},
      failed: () => {
        one.downs++;
        budgets.down();
      },
    });
    const budgets: RedisBudgets = new RedisBudgets({
      redis: connection,
      prefix: "t:",
      secret: "secret",
      self: one.self,
      replicas: () => count,
      warn: (message) => one.warnings.push(message),
    });
    const grant = (part: number): void => {
      one.part = part;
    };
    budgets.use({
      budgets: () => [{ name: "x", limit, demand: one.demand, inUse: one.inUse, isWhole, grant }],
      split: (gateways) => grant(isWhole ? equalPart(limit, gateways) : limit / gateways),
    });
    onDispose(() => {
      budgets.close();
      connection.close();
    });
    return one;
  });
  return { redis, all };
}

const parts = ({ all }: Scene): string => all.map(({ part }) => part).join();
const become = (here: Scene, wanted: string) => until(() => parts(here) === wanted, { what: `the parts ${wanted}` });
const cli = ({ redis }: Scene, ...words: string[]): string =>
  execFileSync("redis-cli", ["-u", redis.url, ...words], { encoding: "utf8" }).trim();

describe.skipIf(!hasProgram("redis-server"))("a budget of three replicas", () => {
  it("is divided equally while nobody needs it, and goes to who does", async () => {
    const here = await scene(30);
    await become(here, "10,10,10");
    here.all[0]!.demand = 100;
    await become(here, "28,1,1");
    here.all[1]!.demand = 300;
    await become(here, "8,21,1");
    here.all[0]!.demand = here.all[1]!.demand = 0;
    await become(here, "10,10,10");
  });

  it("is never in more hands than it has places, while it moves", async () => {
    const here = await scene(12);
    await become(here, "4,4,4");
    const downs = (): number => here.all.reduce((sum, one) => sum + one.downs, 0);
    let before: number;
    let sums: number[];
    do {
      // On a busy machine Redis may be late. Then all have equal parts, beside what is in use.
      before = downs();
      sums = [];
      for (let i = 0; i < 30 && downs() === before; i++) {
        for (const one of here.all) {
          one.demand = Math.floor(Math.random() * 40);
          // Calls that run go on when the part becomes smaller.
          one.inUse = Math.max(Math.min(one.demand, one.part), one.inUse - 1);
        }
        const from = performance.now();
        await pause(50);
        // One that says nothing for two seconds has no part, and here all stand still together.
        if (performance.now() - from > 1000) continue;
        sums.push(here.all.reduce((sum, { part, inUse }) => sum + Math.max(part, inUse), 0));
      }
      for (const one of here.all) one.demand = one.inUse = 0;
      if (downs() !== before) await become(here, "4,4,4");
    } while (downs() !== before);
    expect(sums.filter((sum) => sum > 12)).toEqual([]);
  });

  it("of one place goes round", async () => {
    const here = await scene(1);
    for (const one of here.all) one.demand = 5;
    const had = new Set<string>();
    await until(
      () => {
        const holders = here.all.filter(({ part }) => part === 1);
        if (holders.length === 1) {
          had.add(holders[0]!.self);
          holders[0]!.demand = 0;
        }
        for (const one of here.all) if (one.part === 0) one.demand = 5;
        return had.size === 3;
      },
      { what: "each replica to have it once" },
    );
  });

  it("that is a rate is divided in fractions", async () => {
    const here = await scene(1, { isWhole: false });
    here.all[0]!.demand = 3;
    here.all[1]!.demand = 1;
    await until(() => Math.abs(here.all[0]!.part - 0.6979) < 0.001, { what: "three quarters of what is free" });
    const sum = (): number => here.all.reduce((all, { part }) => all + part, 0);
    await until(() => sum() < 1.001 && sum() > 0.999, { what: "the parts to be the whole" });
  });

  it("leaves each replica a little, whatever somebody writes into Redis", async () => {
    const here = await scene(30);
    await become(here, "10,10,10");
    const key = cli(here, "KEYS", "t:budget:*");
    const kept = String(Date.now() + 1500);
    for (let i = 0; i < 15; i++) {
      cli(here, "HSET", key, "evil", `1000000 1000000 ${kept}`, "odd", "%$&", "late", "1 30 99999999999999");
      await pause(50);
      for (const { part } of here.all) expect(part).toBeGreaterThanOrEqual(1);
    }
    await become(here, "10,10,10");
    expect(cli(here, "HKEYS", key)).not.toMatch(/evil|odd|late/);
  });

  it("is divided equally without Redis, and while Redis holds something else there", async () => {
    const here = await scene(30);
    here.all[0]!.demand = 100;
    await become(here, "28,1,1");
    const key = cli(here, "KEYS", "t:budget:*");
    await here.redis.stop();
    await become(here, "10,10,10");
    expect(here.all.flatMap(({ warnings }) => warnings)).toEqual([]);
    await here.redis.start();
    await become(here, "28,1,1");
    cli(here, "DEL", key);
    cli(here, "SET", key, "x");
    await until(() => here.all.every(({ warnings }) => warnings.length > 0), { what: "a warning of each" });
    await become(here, "10,10,10");
    expect(here.all.map(({ warnings }) => warnings.length)).toEqual([1, 1, 1]);
    expect(here.all[0]!.warnings[0]).toContain("limits are not shared with other replicas now");
  });
});
