// @ts-check
// The benchmark in which the gateway is the bottleneck: it is alone on one core; the backend and
// the load, which cost a fraction of it, share another.
//   node bench/core.js [--seconds 1] [--rounds 4] [--connections 1,16,64] [--eras legacy,modern]
//   [--bin path,path] [--json | --markdown]
// A ratio to the proxy is printed only if both kept their core busy; at one connection, which
// leaves any core idle, the times are compared instead. Several paths after --bin are compared with
// each other in interleaved rounds. The exit code says whether every answer was right.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { killAll } from "./children.js";
import { median } from "./lab.js";
import { createNativeLab } from "./native/lab.js";
import { asMarkdown, asText } from "./report.js";
import { here } from "./subjects.js";

/** @typedef {import("./client.js").Era} Era */
/** @typedef {import("./native/lab.js").Sample} Sample */
/** @typedef {import("./native/lab.js").Path} Path */

/** A core that is less busy than this has not been the bottleneck. */
const BUSY = 0.95;
const COLUMNS = [
  "path",
  "connections",
  "busy",
  "calls/s",
  "× proxy",
  "CPU µs",
  "× proxy",
  "p50 ms",
  "p99 ms",
  "× proxy",
];
const BARS = "bars: HTTP ≥ 0.87 and ≤ 1.15 ×, stdio ≥ 1.8 and ≤ 0.6 ×, p99 at 64 connections ≤ 1.2 ×";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "4" },
    connections: { type: "string", default: "1,16,64" },
    eras: { type: "string", default: "legacy,modern" },
    bin: { type: "string", default: here("../bin/goblin.js") },
    json: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
  },
});

/**
 * Measures every path in turn, round by round; the first round warms up and does not count.
 * @param {import("./native/lab.js").NativeLab} lab
 * @param {Path[]} paths
 * @param {number} connections
 */
async function compare(lab, paths, connections) {
  /** @type {Sample[][]} */
  const samples = paths.map(() => []);
  for (let round = 0; round <= Number(values.rounds); round++) {
    const order = [...paths.entries()];
    if (round % 2 === 1) order.reverse();
    for (const [index, path] of order) {
      const sample = await lab.measure(path, { connections, ms: Number(values.seconds) * 1000 });
      if (round > 0) samples[index]?.push(sample);
    }
  }
  return samples.map((list) => {
    const of = (/** @type {keyof Sample} */ key) => median(list.map((sample) => sample[key]));
    const [busy, perSecond, cpuUs, mainUs] = [of("busy"), of("perSecond"), of("cpuUs"), of("mainUs")];
    return { busy, perSecond, cpuUs, mainUs, p50: of("p50"), p99: of("p99") };
  });
}

/** @param {Sample} own @param {Sample} proxy @param {keyof Sample} key */
function ratio(own, proxy, key) {
  return own.busy < BUSY || proxy.busy < BUSY ? "–" : own[key] / proxy[key];
}

async function main() {
  const show = values.markdown ? asMarkdown : asText;
  const tables = [];
  for (const era of /** @type {Era[]} */ (values.eras.split(","))) {
    const lab = await createNativeLab(era);
    try {
      const paths = [await lab.proxy()];
      for (const bin of values.bin.split(",")) paths.push(...(await lab.goblin(bin)));
      const rows = [];
      for (const connections of values.connections.split(",").map(Number)) {
        const samples = await compare(lab, paths, connections);
        const proxy = /** @type {Sample} */ (samples[0]);
        for (const [index, own] of samples.entries()) {
          const { busy, perSecond, cpuUs, p50, p99 } = own;
          const cpu = [perSecond, ratio(own, proxy, "perSecond"), cpuUs, ratio(own, proxy, "cpuUs")];
          const name = paths[index]?.name ?? "";
          rows.push([name, String(connections), `${Math.round(busy * 100)} %`, ...cpu, p50, p99, p99 / proxy.p99]);
        }
      }
      const title = `tools/call, small, ${era} era, the gateway alone on a core`;
      tables.push({ title, columns: COLUMNS, rows, notes: [lab.note, BARS] });
    } finally {
      await lab.close();
    }
  }
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown CPU"}`;
  if (values.json) console.log(JSON.stringify({ machine, tables }, undefined, 2));
  else console.log([machine, "", ...tables.map(show)].join("\n"));
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    killAll();
    process.exit(1);
  },
);
