// @ts-check
// What it costs to remember calls: the ring in memory that is always on, and the recorder, each
// beside the same calls to a gateway that remembers nothing. Backend and load cost a fraction of
// the gateway, which is alone on a core where the system can pin processes. A round measures all
// three, one right after the other; the median of the rounds' ratios counts, so that a slow second
// of the machine says nothing.

import { rmSync } from "node:fs";
import { median } from "../lab.js";
import { createNativeLab } from "../native/lab.js";
import { writeTemporary } from "../subjects.js";

/** @typedef {import("../native/lab.js").Sample} Sample */

const MOST_RING = 1.02;
const MOST_RECORDER = 1.1;
const CONNECTIONS = 16;
const WARM_MS = 2_000;
const TURN_MS = 400;
/** A difference of one in fifty is seen in the median of many turns, not of three. */
const LEAST_ROUNDS = 9;

/** @type {import("../run.js").Scenario} */
export const recording = {
  name: "recording",
  seconds: { full: 17, short: 0 },
  least: LEAST_ROUNDS,
  async run(lab) {
    const dir = `${writeTemporary("recordings", "")}.d`;
    const settings = [{ calls: { keep: 0 } }, {}, { record: { dir } }];
    const native = await createNativeLab("legacy");
    /** @type {Sample[][]} */
    const samples = settings.map(() => []);
    try {
      const paths = [];
      for (const one of settings) {
        const found = (await native.goblin(lab.bin, one)).find(({ name }) => name.endsWith("stdio"));
        if (found) paths.push(found);
      }
      for (const path of paths) await native.measure(path, { connections: CONNECTIONS, ms: WARM_MS });
      for (let round = 0; round < lab.rounds; round += 1) {
        const order = [...paths.entries()];
        if (round % 2 === 1) order.reverse();
        for (const [index, path] of order)
          samples[index]?.push(await native.measure(path, { connections: CONNECTIONS, ms: TURN_MS }));
      }
    } finally {
      await native.close();
      rmSync(dir, { recursive: true, force: true });
    }
    /** @param {number} index @param {keyof Sample} key */
    const of = (index, key) => median((samples[index] ?? []).map((sample) => sample[key]));
    /**
     * The median of the rounds' ratios. @param {number} to @param {number} from @param {"cpuUs" |
     * "mainUs"} key
     */
    const ratio = (to, from, key) =>
      median((samples[to] ?? []).map((sample, round) => sample[key] / (samples[from]?.[round]?.[key] ?? NaN)));
    const rows = ["neither", "ring", "ring and recorder"].map((name, index) => {
      const times = [of(index, "cpuUs"), ratio(index, 0, "cpuUs"), of(index, "mainUs"), ratio(index, 0, "mainUs")];
      return [name, of(index, "perSecond"), ...times];
    });
    const bars = [
      { name: "CPU with the ring alone", value: ratio(1, 0, "cpuUs"), most: MOST_RING },
      { name: "CPU with the recorder, against the ring alone", value: ratio(2, 1, "cpuUs"), most: MOST_RECORDER },
    ];
    const columns = ["what is remembered", "calls/s", "CPU µs", "× neither", "main thread µs", "× neither"];
    return { tables: [{ title: "Remembering calls", columns, rows, notes: [native.note] }], bars };
  },
};
