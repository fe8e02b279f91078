// @ts-check
// What it costs to remember calls: the ring in memory that is always on, and the recorder, each
// beside the same calls to a gateway that remembers nothing. The ratio counts.

import { stdioServer, writeTemporary } from "../subjects.js";

/** @typedef {import("../lab.js").Cell} Cell */

/** A difference of one in fifty is seen in the median of many short turns, not of three. */
const LEAST_ROUNDS = 9;
const MOST_RING = 1.02;
const MOST_RECORDER = 1.1;

/** @type {import("../run.js").Scenario} */
export const recording = {
  name: "recording",
  seconds: { full: 12, short: 0 },
  least: LEAST_ROUNDS,
  async run(lab) {
    const servers = { stdio: stdioServer({ era: "legacy", tag: "recording" }) };
    const dir = `${writeTemporary("recordings", "")}.d`;
    const paths = [
      { path: "neither", settings: { calls: { keep: 0 } } },
      { path: "ring", settings: {} },
      { path: "ring and recorder", settings: { record: { dir } } },
    ];
    /** @type {Cell[]} */
    const cells = [];
    for (const { settings } of paths) {
      const goblin = await lab.goblin({ servers, settings });
      const ask = { kind: /** @type {const} */ ("echo"), tool: goblin.tool("stdio", "echo") };
      cells.push({ subject: goblin, load: { era: "legacy", connections: 16, ask } });
    }
    const samples = await lab.compare(cells, { warmCalls: 3_000, duration: 300 });
    const [neither, ring, recorder] = samples.map(({ cpuUs }) => cpuUs);
    const [alone] = samples;
    const rows = paths.map(({ path }, index) => {
      const { perSecond = NaN, cpuUs = NaN, mainUs = NaN } = samples[index] ?? {};
      return [path, perSecond, cpuUs, cpuUs / (neither ?? NaN), mainUs, mainUs / (alone?.mainUs ?? NaN)];
    });
    const bars = [
      { name: "CPU with the ring alone", value: (ring ?? NaN) / (neither ?? NaN), most: MOST_RING },
      {
        name: "CPU with the recorder, against the ring alone",
        value: (recorder ?? NaN) / (ring ?? NaN),
        most: MOST_RECORDER,
      },
    ];
    const columns = ["what is remembered", "calls/s", "CPU µs", "× neither", "main thread µs", "× neither"];
    return { tables: [{ title: "Remembering calls", columns, rows }], bars };
  },
};
