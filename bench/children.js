// @ts-check
// Every process that the benchmark starts, and the promise that none outlives it: they end with
// `stop`, with the benchmark's own end and on ctrl-c. A child counts as started when it has printed
// its address.

import { spawn } from "node:child_process";
import { hasProc } from "./usage.js";

/**
 * @typedef {{ child: import("node:child_process").ChildProcess, url: string, output(): string,
 *   stop(): Promise<void> }} Started
 */

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/mcp/;
const START_MS = 20_000;
const POLITE_MS = 800;
const PROBE = new URL("usage-probe.js", import.meta.url).href;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

export function killAll() {
  for (const child of running) child.kill("SIGKILL");
}

process.on("exit", killAll);
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.once(signal, () => {
    // A gateway gets the chance to end its own children first; the second signal or the timer ends
    // it all.
    for (const child of running) child.kill("SIGTERM");
    setTimeout(() => process.exit(130), 300);
    process.once(signal, () => process.exit(130));
  });
}

/**
 * Starts `node <args>` and waits for the address it prints.
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options]
 * @returns {Promise<Started>}
 */
export function startNode(args, { env = {}, cwd } = {}) {
  const probe = hasProc ? [] : ["--import", PROBE];
  const child = spawn(process.execPath, [...probe, ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  running.add(child);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.once("exit", () => running.delete(child));

  async function stop() {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), POLITE_MS);
    await gone;
    clearTimeout(timer);
  }

  return new Promise((resolve, reject) => {
    let output = "";
    let known = false;
    const fail = (/** @type {string} */ reason) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${reason}${output === "" ? "" : `: ${output.replaceAll(/\s+/g, " ").trim().slice(0, 300)}`}`));
    };
    const timer = setTimeout(() => fail(`no address after ${START_MS} ms`), START_MS);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => known || fail(`ended with code ${code}`));
    const read = (/** @type {Buffer} */ chunk) => {
      // Kept short: a gateway that logs a lot must not fill this process's memory.
      output = (output + chunk.toString()).slice(-20_000);
      const [url] = known ? [] : (ADDRESS.exec(output) ?? []);
      if (url === undefined) return;
      known = true;
      clearTimeout(timer);
      resolve({ child, url, output: () => output, stop });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}
