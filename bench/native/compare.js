// @ts-check
// What a setting costs: the same calls to gateways that differ in it alone, each alone on a core
// where the system can pin processes, with a backend and a load that cost a fraction of it. A round
// measures all of them, one right after the other; the median of the rounds' ratios counts, so that
// a slow second of the machine says nothing. Two processes of the same program differ by 5 %, as
// the compiler's guesses and the collector have it, so `starts` of each are measured.

import { median } from "../lab.js";
import { createNativeLab } from "./lab.js";

/** @typedef {import("./lab.js").Sample} Sample */
/** @typedef {import("./lab.js").Path} Path */
/**
 * `at`: another address for the calls, from the gateway's. `ready`: called once it runs.
 * @typedef {{ settings: Record<string, unknown>, at?: (url: string) => string, ready?: (url:
 *   string) => Promise<void> }} Variant
 */
/**
 * @typedef {{ era: import("../client.js").Era, bin: string, rounds: number, starts: number,
 *   server?: "stdio" | "http", share?: string }} Common
 */

const CONNECTIONS = 16;
// In turns: what the compiler assumed of the first connections is not true of the next ones. The
// recorder's thread has less to do, and takes longer until its code is compiled.
const WARM_TURNS = 5;
const WARM_MS = 800;
const TURN_MS = 300;

/** @param {Variant[]} variants @param {Common} common */
export async function compareVariants(variants, { era, bin, rounds, starts, server = "stdio", share }) {
  const lab = await createNativeLab(era);
  /** @type {Sample[][]} */
  const samples = variants.map(() => []);
  try {
    for (let start = 0; start < starts; start += 1) {
      const paths = [];
      for (const { settings, at, ready } of variants) {
        const found = await lab.goblin(bin, settings, share);
        const path = /** @type {Path} */ (found.find(({ name }) => name.endsWith(server)));
        await ready?.(path.subject.url);
        paths.push(at ? { ...path, url: at(path.subject.url) } : path);
      }
      for (let turn = 0; turn < WARM_TURNS; turn += 1)
        for (const path of paths) await lab.measure(path, { connections: CONNECTIONS, ms: WARM_MS });
      for (let round = 0; round < rounds; round += starts) {
        const order = [...paths.entries()];
        if ((start + round) % 2 === 1) order.reverse();
        for (const [index, path] of order)
          samples[index]?.push(await lab.measure(path, { connections: CONNECTIONS, ms: TURN_MS }));
      }
      await Promise.all(paths.map(({ subject }) => subject.stop()));
    }
  } finally {
    await lab.close();
  }
  return {
    note: lab.note,

    /** @param {number} index @param {keyof Sample} key */
    of: (index, key) => median((samples[index] ?? []).map((sample) => sample[key])),

    /**
     * The median of the rounds' ratios.
     * @param {number} to @param {number} from @param {"cpuUs" | "mainUs"} key
     */
    ratio: (to, from, key) =>
      median((samples[to] ?? []).map((sample, round) => sample[key] / (samples[from]?.[round]?.[key] ?? NaN))),
  };
}
