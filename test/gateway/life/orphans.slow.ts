/**
 * No server's process outlives `goblin serve`, not even when it is killed; and what sees to that is
 * not noticed by anybody.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { commandOf, descendants, isRunning } from "../../fixtures/processes.ts";
import { type Served, serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(disposeAll);

const stubborn = { start: { stubborn: true, grandchild: true } };
const isWatchdog = (pid: number): boolean => commandOf(pid).includes("goblin-watchdog");

async function ready(goblin: Served): Promise<number> {
  await until(async () => (await fetch(`${goblin.origin}/ready`)).ok, { what: "/ready" });
  return until(() => descendants(goblin.pid).find(isWatchdog), { what: "the watchdog" });
}

/** The session that a process belongs to. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
}

/** What a process has open. */
function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return [];
    }
  });
}

describe("the servers of a gateway that is killed", () => {
  it("end with it, whatever they ignore, and whatever they have started", async () => {
    const deaf = await startScripted({ name: "deaf", script: stubborn });
    const own = await startScripted({ name: "own", script: stubborn });
    const polite = await startScripted({ name: "polite" });
    const goblin = await startServe(
      await serveHome({
        mcpServers: { deaf: deaf.entry, own: { ...own.entry, share: "session" }, polite: polite.entry },
      }),
    );
    await ready(goblin);
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    expect((await raw.call("tools/call", { name: "own_echo", arguments: {} })).message.result).toBeDefined();
    const all = descendants(goblin.pid);
    // Two servers with a grandchild each, the client's own one again, one that behaves, and the
    // watchdog.
    expect(all.length).toBeGreaterThanOrEqual(6);
    const loud = all.filter((pid) => !isWatchdog(pid) && !commandOf(pid).includes("polite"));
    goblin.signal("SIGKILL");
    await goblin.exited;
    expect(loud.every(isRunning)).toBe(true);
    await until(() => all.every((pid) => !isRunning(pid)), { what: "the end of everything" });
    // First they were asked.
    expect((await deaf.events("signal")).map(({ signal }) => signal)).toEqual(["SIGTERM"]);
  });

  it("end also when the gateway was started a moment ago", async () => {
    const hung = await startScripted({
      name: "hung",
      script: { ...stubborn, rules: [{ method: "initialize", do: "hang" }] },
    });
    const goblin = await startServe(await serveHome({ mcpServers: { hung: hung.entry } }));
    await hung.waitFor((record) => record.message?.method === "initialize");
    await until(() => descendants(goblin.pid).some(isWatchdog));
    const all = descendants(goblin.pid);
    goblin.signal("SIGKILL");
    await until(() => all.every((pid) => !isRunning(pid)), { what: "the end of everything" });
  });
});

describe("the watchdog", () => {
  it("has nothing of the gateway's but a pipe, and not its terminal", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startServe(await serveHome({ mcpServers: { one: one.entry } }));
    const watchdog = await ready(goblin);
    expect(sessionOf(watchdog)).toBe(watchdog);
    // What this very process was started with is everybody's.
    const ours = new Set(descriptorsOf(process.pid));
    const open = descriptorsOf(watchdog).filter((target) => target === "/dev/null" || !ours.has(target));
    expect(open.map((target) => target.replace(/\d+/, "n")).sort()).toEqual(["/dev/null", "/dev/null", "socket:[n]"]);
    expect(readlinkSync(`/proc/${watchdog}/cwd`)).toBe("/");
    expect(descendants(goblin.pid).filter(isWatchdog)).toEqual([watchdog]);
  });

  it("is gone after a clean stop", async () => {
    const one = await startScripted({ name: "one" });
    const goblin = await startServe(await serveHome({ mcpServers: { one: one.entry } }));
    const watchdog = await ready(goblin);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(watchdog, signal);
    goblin.signal("SIGTERM");
    expect(await goblin.exited).toBe(0);
    await until(() => !isRunning(watchdog), { what: "the end of the watchdog" });
  });

  it("is not missed when it dies, and the next server that starts brings another", async () => {
    const one = await startScripted({ name: "one", script: stubborn });
    const goblin = await startServe(await serveHome({ mcpServers: { one: one.entry } }));
    const first = await ready(goblin);
    process.kill(first, "SIGKILL");
    await until(() => !isRunning(first));
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const call = () => raw.call("tools/call", { name: "one_echo", arguments: { text: "x" } });
    expect((await call()).message.result.structuredContent).toEqual({ text: "x" });
    await one.kill();
    await until(async () => (await one.events("start")).length === 2, { what: "the next process" });
    await until(() => descendants(goblin.pid).some(isWatchdog), { what: "the next watchdog" });
    await until(async () => (await call()).message.result);
    const all = descendants(goblin.pid);
    goblin.signal("SIGKILL");
    await until(() => all.every((pid) => !isRunning(pid)), { what: "the end of everything" });
  });

  it("leaves alone what has left the list, though a process of that number lives", async () => {
    const orphans = fileURLToPath(new URL("../../../dist/mcp/links/process-groups.js", import.meta.url));
    const bystander = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const other = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    onDispose(() => [bystander, other].map((child) => child.kill("SIGKILL")));
    const program = `
      import { endWithProcess, hasEnded } from ${JSON.stringify(orphans)};
      endWithProcess(${bystander.pid});
      endWithProcess(${other.pid});
      // The list without it must have arrived before the end does.
      setTimeout(() => { hasEnded(${bystander.pid}); process.kill(process.pid, "SIGKILL"); }, 100);`;
    const mother = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" });
    await until(() => mother.signalCode === "SIGKILL");
    await until(() => other.signalCode === "SIGTERM", { what: "the end of the other" });
    expect(isRunning(bystander.pid!)).toBe(true);
  });
});
