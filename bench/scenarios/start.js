// @ts-check
// From the command to ready with ten stdio backends, of which the slowest takes 600 ms: against Goblin with the slowest alone, and
// against the same backends without any gateway. Ten programs that start at once share the machine's cores; that part is not the gateway's.

import { spawn } from "node:child_process";
import { median } from "../lab.js";
import { stdioServer } from "../subjects.js";

const SLOWEST_MS = 600;
const LIMIT_MS = 10_000;

/** @param {number} count @returns {Record<string, { command: string, args: string[] }>} */
const backends = (count) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `s${index}`,
      stdioServer({ delay: Math.round(SLOWEST_MS * ((index + 1) / count)), tag: `s${index}`, tools: 20 }),
    ]),
  );

/** Until all of them have answered `initialize`. @param {number} count */
async function withoutGateway(count) {
  const began = performance.now();
  await Promise.all(Object.values(backends(count)).map(answered));
  return performance.now() - began;
}

/** @param {{ command: string, args: string[] }} backend @returns {Promise<void>} */
function answered({ command, args }) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    child.once("exit", () => reject(new Error("the backend ended")));
    child.stdout.once("data", () => {
      clearTimeout(timer);
      resolve();
      child.stdin.end();
    });
  });
}

/** @param {import("../lab.js").Lab} lab @param {number} count */
async function untilReady(lab, count) {
  const began = performance.now();
  const goblin = await lab.goblin({ servers: backends(count) });
  const ms = performance.now() - began;
  await lab.stop(goblin);
  return ms;
}

/** @type {import("../run.js").Scenario} */
export const start = {
  name: "start",
  seconds: { full: 7, short: 0 },
  async run(lab) {
    /** @type {number[][]} */
    const times = [[], [], [], []];
    for (let round = 0; round < Math.max(1, lab.rounds - 1); round += 1) {
      const measures = [
        () => withoutGateway(1),
        () => withoutGateway(10),
        () => untilReady(lab, 1),
        () => untilReady(lab, 10),
      ];
      for (const [index, measure] of measures.entries()) {
        times[index]?.push(await measure());
      }
    }
    const [alone = NaN, together = NaN, one = NaN, ten = NaN] = times.map(median);
    const rows = [
      ["the slowest backend, no gateway", alone, 1],
      ["ten backends, no gateway", together, together / alone],
      ["Goblin, the slowest backend alone", one, one / alone],
      ["Goblin, ten backends", ten, ten / alone],
    ];
    return {
      tables: [{ title: "Start to ready", columns: ["what", "ms", "× slowest"], rows }],
      bars: [{ name: "ready with ten backends against the slowest alone", value: ten / one, most: 1.3 }],
    };
  },
};
