/**
 * Two `goblin serve` behind a real nginx with the lines of docs/scaling.md: sessions stay at their
 * replica, and the commands of an operator reach what waits at either.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { startNginx } from "../../fixtures/nginx.ts";
import { disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { hasProgram, startRedis } from "../../fixtures/redis.ts";
import { SECRET } from "../../fixtures/replicas.ts";
import { freePort, type Served, serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(disposeAll);

const BIN = fileURLToPath(new URL("../../../bin/goblin.js", import.meta.url));
const hasAll = [hasProgram("redis-server"), hasProgram("nginx")].every(Boolean);
const run = promisify(execFile);
/** Longer than a lease, which is twice cluster.timeoutMs. */
const LEASE_MS = 8000;

/** Runs a command against one replica, and returns what it printed. */
async function goblin(at: Served, ...words: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [BIN, ...words, "--url", at.origin]);
  return stdout;
}

// biome-ignore lint/suspicious/noExplicitAny: the API's answers as they come
const stateOf = async ({ origin }: Served): Promise<any> => (await fetch(`${origin}/api/state`)).json();

async function startRig() {
  const redis = await startRedis();
  const server = await startScripted({ name: "one", transport: "http" });
  const replicas: Served[] = [];
  const ports: number[] = [];
  for (let i = 0; i < 2; i++) {
    const home = await serveHome({
      mcpServers: { one: server.entry },
      policy: { rules: [{ effect: "ask", tools: ["one/sleep"] }] },
      cluster: { secret: SECRET, listen: `127.0.0.1:${await freePort()}`, redis: redis.url, timeoutMs: LEASE_MS / 4 },
    });
    replicas.push(await startServe(home));
    ports.push(home.port);
  }
  for (const { origin } of replicas) await until(async () => (await fetch(`${origin}/ready`)).ok, { what: "/ready" });
  await until(async () => (await stateOf(replicas[0]!)).cluster.replicas.length === 2, {
    what: "the replicas to meet",
  });
  return { replicas, origin: await startNginx(ports, "as documented") };
}

describe.skipIf(!hasAll)("two replicas behind nginx as documented", () => {
  it("keep every session at the replica that opened it, and spread the sessions", async () => {
    const { replicas, origin } = await startRig();
    const sessions = Array.from({ length: 16 }, () => rawHttp(`${origin}/mcp`));
    for (const raw of sessions) await raw.initialize();
    for (let n = 0; n < 5; n++) {
      for (const raw of sessions) {
        const { message } = await raw.call("tools/call", { name: "one_echo", arguments: { text: `call ${n}` } });
        expect(message.result).toBeDefined();
      }
    }
    const states = await Promise.all(replicas.map(stateOf));
    expect(states[0].calls.total).toBeGreaterThanOrEqual(80);
    const listed = (await (await fetch(`${replicas[0]!.origin}/api/sessions`)).json()) as {
      items: { replica: string }[];
    };
    // All 16 random keys at one replica: one run of 32,768.
    expect(new Set(listed.items.map(({ replica }) => replica)).size).toBe(2);
    expect(states.map(({ cluster }) => cluster.handOvers)).toEqual([0, 0]);
  });

  it("show and answer at either what waits for approval at the other, and say which one is lost (D5)", async () => {
    const { replicas, origin } = await startRig();
    const names = await Promise.all(replicas.map(async (one) => (await stateOf(one)).cluster.id as string));
    for (const [i, at] of replicas.entries()) {
      // The client connects to one replica, the operator to the other.
      const raw = rawHttp(replicas[1 - i]!.url);
      await raw.initialize();
      const held = raw.call("tools/call", { name: "one_sleep", arguments: { ms: i + 1 } });
      const list = async (): Promise<{ id: string; replica: string }[]> =>
        JSON.parse(await goblin(at, "approvals", "--json")).approvals;
      await until(async () => (await list()).length === 1, { what: "the held call", everyMs: 200 });
      const [row] = await list();
      expect(row!.replica).toBe(names[1 - i]);
      expect(await goblin(at, "approvals")).toContain(names[1 - i]);
      expect(await goblin(at, "approvals", "allow", row!.id)).toContain("Allowed one_sleep");
      expect((await held).message.result).toBeDefined();
    }
    // The load balancer leads an operator to one of them, which shows all the same.
    const through = (await (await fetch(`${origin}/api/approvals`)).json()) as { total: number };
    expect(through.total).toBe(2);
    replicas[1]!.signal("SIGKILL");
    await replicas[1]!.exited;
    const rows = async () => (await stateOf(replicas[0]!)).cluster.replicas;
    const lost = async () => (await rows()).find(({ id }: { id: string }) => id === names[1]);
    expect(await lost()).toMatchObject({ answers: false, address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    // The rows of the others still come. Its lease runs out, and it is shown nevertheless.
    const approvals = await fetch(`${replicas[0]!.origin}/api/approvals`);
    expect(await approvals.json()).toMatchObject({ total: 1 });
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
    expect(await lost()).toMatchObject({ answers: false });
    const printed = await goblin(replicas[0]!, "status");
    expect(printed).toMatch(
      new RegExp(`replica ${names[1]} at 127\\.0\\.0\\.1:\\d+ does not answer; last seen .* ago`),
    );
  });
});
