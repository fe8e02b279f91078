// @ts-check
// What it costs to serve only what was approved, to hold calls for a person, and to look at the
// size of results: the lock enforced, rules that ask about other tools, and large results kept
// aside, beside the same calls to a gateway without. The ratio counts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareVariants } from "../native/compare.js";

/** @typedef {import("../client.js").Era} Era */

const RULES = 100;
/** What the issue of trust allows. */
const MAX_CPU = 1.05;
const MIN_ROUNDS = 9;

/** Approves what the gateway's only server lists. @param {string} url */
async function approve(url) {
  const { origin } = new URL(url);
  const state = /** @type {{ servers: { id: string, current: string }[] }} */ (
    await (await fetch(`${origin}/api/lock`)).json()
  );
  for (const { id, current } of state.servers) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ expect: current });
    const answer = await fetch(`${origin}/api/lock/${id}`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`The server was not approved: ${await answer.text()}`);
  }
}

/** @param {import("../lab.js").Lab} lab @param {Era} era */
async function runEra({ bin, rounds, starts }, era) {
  const folder = mkdtempSync(join(tmpdir(), "goblin-bench-lock-"));
  const file = join(folder, "goblin.lock");
  const rules = Array.from({ length: RULES }, (_, n) => ({ effect: "ask", server: "stdio", tools: [`tool_${n}`] }));
  const settings = {
    lock: { mode: "enforce", file },
    policy: { rules },
    results: { over: "spill", maxTokens: 10_000 },
  };
  try {
    const variants = [{ settings: { lock: { file } }, ready: approve }, { settings }];
    const { note, of, ratio } = await compareVariants(variants, { era, bin, rounds, starts });
    const rows = ["without", `lock enforced, ${RULES} rules that ask, results`].map((path, index) => [
      path,
      era,
      of(index, "perSecond"),
      of(index, "cpuUs"),
      ratio(index, 0, "cpuUs"),
      of(index, "p50"),
      of(index, "p99"),
    ]);
    const bar = { name: `CPU with lock, approvals and results, ${era}`, value: ratio(1, 0, "cpuUs"), most: MAX_CPU };
    return { rows, bar, note };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {import("../run.js").Scenario} */
export const trust = {
  name: "trust",
  seconds: { full: 20, short: 0 },
  least: MIN_ROUNDS,
  async run(lab) {
    const eras = [await runEra(lab, "legacy"), await runEra(lab, "modern")];
    const columns = ["calls, stdio server", "era", "calls/s", "CPU µs", "× without", "p50 ms", "p99 ms"];
    const notes = [eras[0]?.note ?? ""];
    const table = { title: "tools/call of what was approved", columns, rows: eras.flatMap(({ rows }) => rows), notes };
    return { tables: [table], bars: eras.map(({ bar }) => bar) };
  },
};
