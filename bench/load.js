// @ts-check
// The load generator's process. Forked, it takes jobs from its parent: `prepare` opens everything
// and answers `ready`, `start` runs and answers `result`, `close` lets go; so the parent can read
// its clocks exactly around the run. By hand: node bench/load.js --url http://127.0.0.1:3000/mcp
// [--tool s_echo] [--connections 16] [--seconds 5] [--modern]

import { parseArgs } from "node:util";
import { prepareSessions, prepareSubscribers, prepareWaiting } from "./load-crowds.js";
import { prepareLoad } from "./load-loop.js";

/** @type {Record<string, (job: any) => Promise<import("./load-crowds.js").Prepared>>} */
const PREPARE = {
  load: prepareLoad,
  subscribers: prepareSubscribers,
  sessions: prepareSessions,
  waiting: prepareWaiting,
};

/** @param {(message: object) => void} answer */
function serveParent(answer) {
  /** @type {Map<number, import("./load-crowds.js").Prepared>} */
  const jobs = new Map();

  /** @param {{ step: "prepare" | "start" | "close", key: number, type: string, job: any }} order */
  async function obey({ step, key, type, job }) {
    if (step === "prepare") {
      const prepare = PREPARE[type];
      if (!prepare) throw new Error(`unknown job: ${type}`);
      jobs.set(key, await prepare(job));
      return undefined;
    }
    const prepared = jobs.get(key);
    if (step === "start") return prepared?.start();
    jobs.delete(key);
    prepared?.close();
    return undefined;
  }

  process.on("message", (/** @type {any} */ order) => {
    obey(order).then(
      (result) => answer({ key: order.key, step: order.step, result }),
      (error) =>
        answer({ key: order.key, step: order.step, error: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}

async function runByHand() {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      tool: { type: "string", default: "echo" },
      connections: { type: "string", default: "16" },
      seconds: { type: "string", default: "5" },
      modern: { type: "boolean", default: false },
    },
  });
  if (values.url === undefined) throw new Error("--url is missing");
  const prepared = await prepareLoad({
    url: values.url,
    era: values.modern ? "modern" : "legacy",
    connections: Number(values.connections),
    durationMs: Number(values.seconds) * 1000,
    ask: { kind: "echo", tool: values.tool },
  });
  const result = await prepared.start();
  prepared.close();
  console.log(JSON.stringify(result, undefined, 2));
  process.exitCode = result.wrong > 0 ? 1 : 0;
}

if (process.send) serveParent((message) => process.send?.(message));
else await runByHand();
