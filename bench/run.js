// @ts-check
// The benchmark: everything on loopback, in under 90 seconds, with nothing left behind.
//   node bench/run.js [--short] [--json | --markdown] [--only calls,sizes | --replicas] [--subject
//   goblin|proxy|glue] [--bin path]
// The exit code says whether every answer was right; it never depends on time. --subject puts
// something else in Goblin's place: the proxy against itself must give about 1.0, or the benchmark
// is wrong.

import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { killAll } from "./children.js";
import { createLab, Skip } from "./lab.js";
import { asMarkdown, asText, barTable } from "./report.js";
import { calls } from "./scenarios/calls.js";
import { fanOut } from "./scenarios/fan-out.js";
import { growth } from "./scenarios/growth.js";
import { isolation } from "./scenarios/isolation.js";
import { lists } from "./scenarios/lists.js";
import { memory } from "./scenarios/memory.js";
import { policy } from "./scenarios/policy.js";
import { recording } from "./scenarios/recording.js";
import { replicas } from "./scenarios/replicas.js";
import { resources } from "./scenarios/resources.js";
import { search } from "./scenarios/search.js";
import { sizes } from "./scenarios/sizes.js";
import { start } from "./scenarios/start.js";
import { trust } from "./scenarios/trust.js";

/** @typedef {import("./report.js").Table} Table */
/** @typedef {import("./report.js").Bar} Bar */
/** @typedef {{ tables: Table[], bars?: Bar[] }} Outcome */
/**
 * `seconds` is what all its rounds take; `least` is how many of them it needs, however slow the
 * machine is.
 * @typedef {{ name: string, seconds: { full: number, short: number }, least?: number, run(lab:
 *   import("./lab.js").Lab): Promise<Outcome> }} Scenario
 */

/** @type {Scenario[]} */
const SCENARIOS = [
  calls,
  sizes,
  lists,
  resources,
  search,
  fanOut,
  growth,
  isolation,
  policy,
  trust,
  recording,
  memory,
  start,
];
/**
 * What a run may take, in seconds. A machine that is behind the plan gets fewer rounds, at least
 * one.
 */
const BUDGET = { full: 80, short: 18 };
/** The last scenario is over before 90 if it begins by then. */
const LAST_START = 84;
const MAX_ROUNDS = 3;
/** How many processes of each gateway there is time for, if one scenario is measured alone. */
const STARTS_ALONE = 5;
const HARD_LIMIT_MS = 120_000;

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
    only: { type: "string" },
    /** Measures several gateways that share a secret, and nothing else. */
    replicas: { type: "boolean", default: false },
    subject: { type: "string", default: "goblin" },
    bin: { type: "string", default: fileURLToPath(new URL("../bin/goblin.js", import.meta.url)) },
  },
});

const began = Date.now();
/** @type {string[]} */
const wrong = [];
const elapsed = () => (Date.now() - began) / 1000;
const show = values.markdown ? asMarkdown : asText;
const print = (/** @type {string} */ text) => {
  if (!values.json) console.log(text);
};

/** @returns {Scenario[]} */
function chosen() {
  if (values.replicas) return [replicas];
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    throw new Error(`no scenario "${unknown}"; there are ${SCENARIOS.map(({ name }) => name).join(", ")}`);
  }
  return SCENARIOS.filter(({ name, seconds }) => (names ? names.includes(name) : seconds.short > 0 || !values.short));
}

/** How many rounds fit, when all that is still to come gets as many. @param {Scenario[]} ahead */
function roundsLeft(ahead) {
  const form = values.short ? "short" : "full";
  const left = BUDGET[form] - elapsed();
  const planned = ahead.reduce((sum, { seconds }) => sum + seconds[form], 0);
  if (left <= 0) return values.short || elapsed() <= LAST_START ? 1 : 0;
  return Math.max(1, Math.min(MAX_ROUNDS, Math.floor((left / planned) * MAX_ROUNDS + 0.5)));
}

async function main() {
  const scenarios = chosen();
  if (!["goblin", "proxy", "glue"].includes(values.subject)) throw new Error(`no subject "${values.subject}"`);
  const lab = await createLab({ short: values.short, bin: values.bin, subject: values.subject, wrong });
  if (scenarios.length === 1) lab.starts = STARTS_ALONE;
  /** @type {Bar[]} */
  const bars = [];
  /** @type {Record<string, Table[] | { skipped: string }>} */
  const results = {};
  /** @type {Record<string, number>} */
  const seconds = {};
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown CPU"}`;
  print(`${machine}; measured: ${values.subject}\n`);

  for (const [index, { name, run, least = 0 }] of scenarios.entries()) {
    const from = elapsed();
    try {
      lab.rounds = Math.max(roundsLeft(scenarios.slice(index)), values.short ? 0 : least);
      if (lab.rounds === 0) throw new Skip("no time left in this run");
      const outcome = await run(lab);
      results[name] = outcome.tables;
      const few = lab.rounds < MAX_ROUNDS ? ` (${lab.rounds} of ${MAX_ROUNDS} rounds)` : "";
      for (const bar of outcome.bars ?? []) bars.push({ ...bar, name: bar.name + few });
      const [table] = outcome.tables;
      if (table && lab.rounds < MAX_ROUNDS) {
        table.notes = [...(table.notes ?? []), `${lab.rounds} of ${MAX_ROUNDS} rounds: this machine is busy or slow`];
      }
      for (const table of outcome.tables) print(show(table));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // What cannot be measured yet is skipped; what breaks while it is measured is an answer that
      // did not come.
      if (!(error instanceof Skip)) wrong.push(`${name}: ${reason}`);
      results[name] = { skipped: reason };
      print(`${name}: skipped: ${reason}\n`);
    }
    await lab.clear();
    seconds[name] = Math.round((elapsed() - from) * 10) / 10;
  }

  await lab.close();
  if (bars.length > 0) print(show(barTable(bars)));
  for (const text of wrong) print(`WRONG ANSWER  ${text}`);
  const measured = Object.values(results).some((result) => Array.isArray(result));
  const verdict =
    wrong.length > 0 ? "there were wrong answers" : measured ? "every answer was right" : "nothing was measured";
  print(`${elapsed().toFixed(0)} s, ${verdict}`);
  if (values.json) console.log(JSON.stringify({ machine, seconds, results, bars, wrong }, undefined, 2));
  return wrong.length === 0 ? 0 : 1;
}

setTimeout(() => {
  console.error(`stopped after ${HARD_LIMIT_MS} ms`);
  killAll();
  process.exit(wrong.length === 0 ? 0 : 1);
}, HARD_LIMIT_MS).unref();

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  },
);
