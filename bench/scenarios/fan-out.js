// @ts-check
// One resource changes: how long until the last of 1, 100 and 1 000 subscribers has heard of it,
// and what a delivery costs. Each must hear of every change exactly once, under the URI it asked
// for.

import { Client } from "../client.js";
import { Skip } from "../lab.js";
import { whole } from "../report.js";
import { stdioServer } from "../subjects.js";
import { usageOf } from "../usage.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("../client.js").Era} Era */

/**
 * @param {Lab} lab
 * @param {import("../subjects.js").Subject} goblin
 * @param {{ era: Era, count: number, rounds: number }} plan
 */
async function deliver(lab, goblin, { era, count, rounds }) {
  const client = await Client.open(goblin.url, era);
  const { resources } = await client.ask("resources/list").finally(() => client.close());
  const entry = resources.find((/** @type {any} */ it) => it.description?.startsWith("bench://"));
  if (!entry) throw new Error("the resource is not listed");
  const job = {
    url: goblin.url,
    era,
    count,
    rounds,
    uri: entry.uri,
    original: entry.description,
    tool: goblin.tool("stdio", "touch"),
  };
  const crowd = await lab.generator.prepare("subscribers", job);
  try {
    const before = await usageOf(goblin.child);
    const result = await crowd.start();
    const after = await usageOf(goblin.child);
    if (result.lost !== 0)
      lab.wrong.push(`fan-out, ${era}: ${result.lost} of ${count * rounds} updates lost (negative: too many)`);
    if (result.strange > 0) lab.wrong.push(`fan-out, ${era}: ${result.strange} updates under another URI`);
    return { ms: result.medianMs, cpuUs: (after.cpuUs - before.cpuUs) / Math.max(1, result.deliveries) };
  } finally {
    await crowd.close();
  }
}

/** @type {import("../run.js").Scenario} */
export const fanOut = {
  name: "fan-out",
  seconds: { full: 8, short: 0 },
  async run(lab) {
    const goblin = await lab.goblin({ servers: { stdio: stdioServer({ resources: 1, tag: "fan" }) } });
    const rows = [];
    const notes = [];
    for (const era of /** @type {Era[]} */ (["legacy", "modern"])) {
      try {
        await deliver(lab, goblin, { era, count: 1, rounds: 3 });
        for (const count of [1, 100, 1_000]) {
          const { ms, cpuUs } = await deliver(lab, goblin, { era, count, rounds: 3 });
          rows.push([era, whole(count), ms, cpuUs]);
        }
      } catch (error) {
        notes.push(`${era}: skipped: ${error instanceof Error ? error.message : error}`);
      }
    }
    if (rows.length === 0) throw new Skip(notes.join("; "));
    const columns = ["clients", "subscribers", "ms until the last", "CPU µs each"];
    return { tables: [{ title: "notifications/resources/updated, fanned out", columns, rows, notes }] };
  },
};
