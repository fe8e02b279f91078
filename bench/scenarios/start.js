// @ts-check
// From the command to ready with ten stdio backends, of which the slowest takes three seconds, as
// programs do that `npx` fetches or that sign in somewhere: against the slowest alone, without a
// gateway. What the gateway and nine more programs add is time on the machine's cores; it does not
// grow with the slowest.

import { spawn } from "node:child_process";
import { stdioServer } from "../subjects.js";

const SLOWEST_MS = 3_000;
const COUNT = 10;
const LIMIT_MS = 10_000;

/** @typedef {{ command: string, args: string[] }} Backend */

const backends = () =>
  Object.fromEntries(
    Array.from({ length: COUNT }, (_, index) => [
      `s${index}`,
      stdioServer({ delay: Math.round((SLOWEST_MS * (index + 1)) / COUNT), tag: `s${index}`, tools: 20 }),
    ]),
  );

/** Until it has answered `initialize`. @param {Backend} backend @returns {Promise<void>} */
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

/** @type {import("../run.js").Scenario} */
export const start = {
  name: "start",
  seconds: { full: 8, short: 0 },
  async run(lab) {
    const all = backends();
    const began = performance.now();
    await answered(/** @type {Backend} */ (Object.values(all).at(-1)));
    const alone = performance.now() - began;
    const from = performance.now();
    const goblin = await lab.goblin({ servers: all });
    const together = performance.now() - from;
    await lab.stop(goblin);
    const rows = [
      ["the slowest backend, no gateway", alone, 1],
      ["Goblin, ten backends", together, together / alone],
    ];
    return {
      tables: [{ title: "Start to ready", columns: ["what", "ms", "× slowest"], rows }],
      bars: [{ name: "ready with ten backends against the slowest alone", value: together / alone, most: 1.3 }],
    };
  },
};
