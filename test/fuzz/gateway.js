// @ts-check
// A gateway process with servers behind it, for a fuzzer: what it uses is read from the system, and
// everything ends with `stop`.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));
const SERVER = fileURLToPath(new URL("./server.js", import.meta.url));

/**
 * @typedef {{ transport: "stdio" | "http" | "sse", era: "legacy" | "modern", timeoutMs?: number }}
 * Kind
 */
/**
 * @typedef {{ url: string, ended(): string | undefined, usage(): { rssMb: number, descriptors:
 * number } | undefined, stop(): Promise<void> }} Target
 */

/** @param {Record<string, Kind>} kinds the servers @returns {Promise<Target>} */
export async function startGateway(kinds) {
  const folder = mkdtempSync(join(tmpdir(), "goblin-fuzz-"));
  /** @type {import("node:child_process").ChildProcess[]} */
  const children = [];
  /** @type {Record<string, object>} */
  const mcpServers = {};
  for (const [id, { transport, era, timeoutMs }] of Object.entries(kinds)) {
    const args = [SERVER, "--transport", transport, "--era", era];
    if (transport === "stdio") {
      mcpServers[id] = { command: process.execPath, args, ...(timeoutMs && { timeoutMs }) };
      continue;
    }
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    children.push(child);
    const url = await lineOf(child, /^listening (\S+)/);
    mcpServers[id] = { type: transport, url, ...(timeoutMs && { timeoutMs }) };
  }
  const config = join(folder, "goblin.json");
  const timeouts = { callMs: 3000, connectMs: 5000 };
  const log = { level: "error", format: "json" };
  writeFileSync(config, JSON.stringify({ mcpServers, gateway: { port: 0 }, timeouts, log }));
  const goblin = spawn(process.execPath, [BIN, "serve", "--config", config], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, XDG_STATE_HOME: join(folder, "state") },
  });
  children.push(goblin);
  let stderr = "";
  goblin.stderr.on("data", (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-2000);
  });
  let stopping = false;
  /** @type {string | undefined} */
  let ended;
  const exited = new Promise((resolve) =>
    goblin.once("exit", (code, signal) => {
      if (!stopping) ended = `ended with ${code ?? signal}: ${stderr}`;
      resolve(undefined);
    }),
  );
  const kill = () => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.on("exit", kill);
  const url = await lineOf(goblin, /listening on (http:\S+)/);
  goblin.stdout.resume();
  const ready = `${new URL(url).origin}/ready`;
  for (let tries = 0; tries < 200 && !(await fetch(ready)).ok; tries++) await new Promise((go) => setTimeout(go, 100));
  return {
    url,
    ended: () => ended,
    usage: () => (ended === undefined && goblin.pid ? usageOf(goblin.pid) : undefined),
    async stop() {
      stopping = true;
      goblin.kill("SIGTERM");
      const late = setTimeout(() => goblin.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(late);
      process.off("exit", kill);
      kill();
    },
  };
}

/** Undefined where the system does not tell. @param {number} pid */
function usageOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const rssMb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    return { rssMb, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

/**
 * What follows on a line of the child's.
 * @param {import("node:child_process").ChildProcess} child
 * @param {RegExp} wanted
 */
async function lineOf(child, wanted) {
  for await (const line of createInterface({ input: /** @type {any} */ (child.stdout) })) {
    const found = wanted.exec(line);
    if (found) return /** @type {string} */ (found[1]);
  }
  throw new Error(`A child ended before it said ${wanted}`);
}
