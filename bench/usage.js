// @ts-check
// What a process has used: CPU time and resident memory. On Linux from /proc, to the nanosecond
// where the kernel keeps scheduler statistics and to the clock tick otherwise; elsewhere the
// process itself is asked (usage-probe.js, loaded into every child). Times include all threads, so
// that garbage collection and compilation off the main thread are counted.

import { existsSync, readdirSync, readFileSync } from "node:fs";

/**
 * `mainUs`: the main thread's part, where the system tells.
 * @typedef {{ cpuUs: number, rssBytes: number, mainUs?: number }} Usage
 */

const TICK_US = 10_000;
const PAGE_BYTES = 4096;
const REPLY_MS = 2_000;

export const hasProc = process.env.BENCH_NO_PROC === undefined && existsSync("/proc/self/stat");

/** @param {number} pid @returns {{ cpuUs: number, mainUs: number } | undefined} */
function scheduledUs(pid) {
  let all = 0;
  let main = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const ns = Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]);
      all += ns;
      if (thread === String(pid)) main = ns;
    } catch {
      if (!existsSync("/proc/self/schedstat")) return undefined;
    }
  }
  return { cpuUs: all / 1000, mainUs: main / 1000 };
}

/** @param {number} pid */
function tickedUs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The command in parentheses may hold spaces; the fields after it start with the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** @param {import("node:child_process").ChildProcess} child @returns {Promise<Usage>} */
function askProcess(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the process does not report its usage")), REPLY_MS);
    const listen = (/** @type {any} */ message) => {
      if (message?.benchUsage === undefined) return;
      clearTimeout(timer);
      child.off("message", listen);
      resolve(message.benchUsage);
    };
    child.on("message", listen);
    child.send({ benchUsage: true });
  });
}

/** @param {import("node:child_process").ChildProcess} child @returns {Promise<Usage>} */
export async function usageOf(child) {
  const { pid } = child;
  if (pid === undefined) throw new Error("the process did not start");
  if (!hasProc) return askProcess(child);
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  return { ...(scheduledUs(pid) ?? { cpuUs: tickedUs(pid) }), rssBytes: pages * PAGE_BYTES };
}
