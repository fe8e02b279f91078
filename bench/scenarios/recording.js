// @ts-check
// What it costs to remember calls: the ring in memory that is always on, and the recorder, each
// beside the same calls to a gateway that remembers nothing.

import { rmSync } from "node:fs";
import { compareVariants } from "../native/compare.js";
import { writeTemporary } from "../subjects.js";

const MAX_RING = 1.02;
const MAX_RECORDER = 1.25;
/** A difference of one in fifty is seen in the median of many turns, not of three. */
const MIN_ROUNDS = 15;

/** @type {import("../run.js").Scenario} */
export const recording = {
  name: "recording",
  seconds: { full: 27, short: 0 },
  least: MIN_ROUNDS,
  async run({ bin, rounds, starts }) {
    const dir = `${writeTemporary("recordings", "")}.d`;
    const variants = [{ calls: { keep: 0 } }, {}, { record: { dir } }].map((settings) => ({ settings }));
    const { note, of, ratio } = await compareVariants(variants, { era: "legacy", bin, rounds, starts });
    rmSync(dir, { recursive: true, force: true });
    const rows = ["neither", "ring", "ring and recorder"].map((name, index) => {
      const times = [of(index, "cpuUs"), ratio(index, 0, "cpuUs"), of(index, "mainUs"), ratio(index, 0, "mainUs")];
      return [name, of(index, "perSecond"), ...times];
    });
    const bars = [
      { name: "CPU with the ring alone", value: ratio(1, 0, "cpuUs"), most: MAX_RING },
      { name: "CPU with the recorder, against the ring alone", value: ratio(2, 1, "cpuUs"), most: MAX_RECORDER },
    ];
    const columns = ["what is remembered", "calls/s", "CPU µs", "× neither", "main thread µs", "× neither"];
    return { tables: [{ title: "Remembering calls", columns, rows, notes: [note] }], bars };
  },
};
