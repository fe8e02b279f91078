// @ts-check
// From the command to ready with ten stdio backends, of which the slowest takes 600 ms: against Goblin with the slowest alone, and
// against that backend without any gateway.

import { spawn } from "node:child_process";
import { median } from "../lab.js";
import { stdioServer } from "../subjects.js";

const SLOWEST_MS = 600;
const LIMIT_MS = 10_000;

/** Until the backend itself has answered `initialize`. @returns {Promise<number>} */
function alone() {
  const { command, args } = stdioServer({ delay: SLOWEST_MS });
  const began = performance.now();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    child.once("exit", () => reject(new Error("the backend ended")));
    child.stdout.once("data", () => {
      clearTimeout(timer);
      resolve(performance.now() - began);
      child.stdin.end();
    });
  });
}

/** @param {import("../lab.js").Lab} lab @param {number} backends */
async function untilReady(lab, backends) {
  const servers = Object.fromEntries(
    Array.from({ length: backends }, (_, index) => [
      `s${index}`,
      stdioServer({ delay: Math.round(SLOWEST_MS * ((index + 1) / backends)), tag: `s${index}`, tools: 20 }),
    ]),
  );
  const began = performance.now();
  const goblin = await lab.goblin({ servers });
  const ms = performance.now() - began;
  await lab.stop(goblin);
  return ms;
}

/** @type {import("../run.js").Scenario} */
export const start = {
  name: "start",
  seconds: { full: 5, short: 0 },
  async run(lab) {
    const times = { alone: [await alone()], one: /** @type {number[]} */ ([]), ten: /** @type {number[]} */ ([]) };
    for (let round = 0; round < Math.max(1, lab.rounds - 1); round += 1) {
      times.one.push(await untilReady(lab, 1));
      times.ten.push(await untilReady(lab, 10));
    }
    const [base, one, ten] = [median(times.alone), median(times.one), median(times.ten)];
    const rows = [
      ["the slowest backend, no gateway", base, 1],
      ["Goblin, the slowest backend alone", one, one / base],
      ["Goblin, ten backends", ten, ten / base],
    ];
    return {
      tables: [{ title: "Start to ready", columns: ["what", "ms", "× slowest"], rows }],
      bars: [{ name: "ready with ten backends against the slowest alone", value: ten / one, most: 1.3 }],
    };
  },
};
