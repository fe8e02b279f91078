// @ts-check
// What it costs to serve only what was approved, and to hold calls for a person: the lock enforced
// and rules that ask about other tools, beside the same calls to a gateway without. The ratio
// counts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stdioServer } from "../subjects.js";

/** @typedef {import("../client.js").Era} Era */
/** @typedef {import("../lab.js").Cell} Cell */

const RULES = 100;
/** What the issue of trust allows. */
const MOST_CPU = 1.05;

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
async function runEra(lab, era) {
  const folder = mkdtempSync(join(tmpdir(), "goblin-bench-lock-"));
  const file = join(folder, "goblin.lock");
  const servers = { stdio: stdioServer({ era, tag: "trust" }) };
  const rules = Array.from({ length: RULES }, (_, n) => ({ effect: "ask", server: "stdio", tools: [`tool_${n}`] }));
  try {
    const plain = await lab.goblin({ servers, settings: { lock: { file } } });
    await approve(plain.url);
    const locked = await lab.goblin({ servers, settings: { lock: { mode: "enforce", file }, policy: { rules } } });
    /** @type {Cell["load"]} */
    const load = { era, connections: 16, ask: { kind: "echo", tool: plain.tool("stdio", "echo") } };
    /** @type {Cell[]} */
    const cells = [
      { subject: plain, load },
      { subject: locked, load },
    ];
    const samples = await lab.compare(cells, { warmCalls: 3_000, duration: lab.short ? 400 : 600 });
    const [without, under] = /** @type {[import("../lab.js").Sample, import("../lab.js").Sample]} */ (samples);
    await lab.clear();
    const row = (/** @type {string} */ path, /** @type {import("../lab.js").Sample} */ own) => [
      ...[path, era, own.perSecond, own.cpuUs, own.cpuUs / without.cpuUs, own.p50, own.p99],
    ];
    return {
      rows: [row("without", without), row(`lock enforced, ${RULES} rules that ask`, under)],
      bar: { name: `CPU with lock and approvals, ${era}`, value: under.cpuUs / without.cpuUs, most: MOST_CPU },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {import("../run.js").Scenario} */
export const trust = {
  name: "trust",
  seconds: { full: 9, short: 0 },
  async run(lab) {
    const eras = [await runEra(lab, "legacy"), await runEra(lab, "modern")];
    const columns = ["calls, stdio server", "era", "calls/s", "CPU µs", "× without", "p50 ms", "p99 ms"];
    const table = { title: "tools/call of what was approved", columns, rows: eras.flatMap(({ rows }) => rows) };
    return { tables: [table], bars: eras.map(({ bar }) => bar) };
  },
};
