// @ts-check
// Several runs as one: the medians of their bars with the lowest and the highest, then the tables
// of the last run, in Markdown. One run on a busy machine proves little; this is what
// docs/performance.md holds.
//   for i in 1 2 3 4 5; do node bench/run.js --json > run$i.json; done; node bench/summary.js
//   run*.json

import { readFileSync } from "node:fs";
import { median } from "./lab.js";
import { asMarkdown, isMet, number } from "./report.js";

/** @typedef {import("./report.js").Bar} Bar */
/** @typedef {import("./report.js").Table} Table */
/**
 * @typedef {{ machine: string, bars: Bar[], results: Record<string, Table[] | { skipped: string }>,
 *   wrong: string[] }} Run
 */

/** @type {Run[]} */
const runs = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const last = runs.at(-1);
if (!last) throw new Error("Name the files that `node bench/run.js --json` wrote");
const wrong = runs.flatMap((run) => run.wrong);
if (wrong.length > 0) throw new Error(`There were wrong answers: ${wrong[0]}`);

/** @type {Map<string, Bar[]>} */
const byName = new Map();
for (const bar of runs.flatMap((run) => run.bars)) {
  const name = bar.name.replace(/ \(\d of \d rounds\)$/, "");
  byName.set(name, [...(byName.get(name) ?? []), bar]);
}

const rows = [...byName].map(([name, bars]) => {
  const values = bars.map(({ value }) => value);
  const { most, least, unit = "" } = /** @type {Bar} */ (bars[0]);
  const middle = median(values);
  return [
    name,
    `${number(middle)}${unit}`,
    `${number(Math.min(...values))} – ${number(Math.max(...values))}`,
    most === undefined ? `≥ ${least}${unit}` : `≤ ${most}${unit}`,
    isMet({ value: middle, most, least }) ? "yes" : "no",
  ];
});
const columns = ["what", "median", "lowest – highest", "bar", "met"];
console.log(asMarkdown({ title: `The bars: ${runs.length} runs on ${last.machine}`, columns, rows }));
for (const result of Object.values(last.results)) {
  if (Array.isArray(result)) for (const table of result) console.log(asMarkdown(table));
}
