// @ts-check
// One backend hangs with 1 000 calls waiting on it: what callers of another backend feel of that.

import { forkGenerator } from "../generator.js";
import { median, Skip } from "../lab.js";
import { whole } from "../report.js";
import { httpServer, stdioServer } from "../subjects.js";

const WAITING = 1_000;

/** @type {import("../run.js").Scenario} */
export const isolation = {
  name: "isolation",
  least: 2,
  seconds: { full: 5, short: 0 },
  async run(lab) {
    const servers = {
      good: httpServer(lab.backendUrl({ tag: "good" })),
      hung: stdioServer({ tag: "hung" }),
    };
    const goblin = await lab.goblin({ servers });
    /** @type {import("../lab.js").Cell["load"]} */
    const load = { era: "legacy", connections: 16, ask: { kind: "echo", tool: goblin.tool("good", "echo") } };
    const refusal = await lab.refusal({ subject: goblin, load });
    if (refusal !== undefined) throw new Skip(refusal);
    await lab.warm({ subject: goblin, load }, 3_000);

    async function several() {
      /** @type {import("../lab.js").Sample[]} */
      const samples = [];
      for (let index = 0; index < lab.rounds; index += 1)
        samples.push(await lab.measure(goblin, { ...load, durationMs: 250 }));
      const of = (/** @type {"p50" | "p99" | "perSecond"} */ key) => median(samples.map((sample) => sample[key]));
      return { p50: of("p50"), p99: of("p99"), perSecond: of("perSecond") };
    }

    const before = await several();
    const other = forkGenerator();
    try {
      const job = { url: goblin.url, era: "legacy", count: WAITING, tool: goblin.tool("hung", "hang") };
      const crowd = await other.prepare("waiting", job);
      const state = await crowd.start();
      const meanwhile = await several();
      const notes = [
        `${state.waiting} calls waiting, ${state.answered} answered at once${state.answered > 0 ? `: ${state.firstAnswer}` : ""}`,
      ];
      const rows = [
        ["before", before],
        ["meanwhile", meanwhile],
      ].map(([when, it]) => {
        const sample = /** @type {typeof before} */ (it);
        return [String(when), sample.perSecond, sample.p50, sample.p99, sample.p99 / before.p99];
      });
      const columns = ["when", "calls/s", "p50 ms", "p99 ms", "× before"];
      return {
        tables: [{ title: `Another backend hangs with ${whole(WAITING)} calls, 16 connections`, columns, rows, notes }],
        bars: [{ name: "p99 while another backend hangs", value: meanwhile.p99 / before.p99, most: 1.5 }],
      };
    } finally {
      other.stop();
    }
  },
};
