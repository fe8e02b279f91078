/**
 * The official conformance suite, run against the fixture directly and through Goblin: `npm run
 * conformance`.
 *
 * Every suite runs against the fixture of its own era, and that score is the measure; then through
 * Goblin in front of the fixture of either era. A check that comes out worse through Goblin must
 * stand in expected.json with a reason, and one that stands there must still come out worse;
 * anything else fails. The cells run one after the other and each has a time limit.
 *
 *   node test/conformance/run.js [--only <text in the cell's name>] [--verbose]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runAuthorization } from "./authorization.js";
import { differences, differencesText, judge, readResults } from "./checks.js";
import { runToEnd, startServer } from "./children.js";
import { installSuites } from "./install.js";

const SUITE_MS = 120_000;
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const eras = ["legacy", "modern"];
const suites = [
  { name: "0.1.16", version: "0.1.16", era: "legacy", args: ["--suite", "all"] },
  { name: "2025-11-25", version: "0.2.0-alpha.12", era: "legacy", args: ["--requirements", "2025-11-25"] },
  { name: "2026-07-28", version: "0.2.0-alpha.12", era: "modern", args: ["--requirements", "2026-07-28"] },
  {
    name: "2026-07-28-all",
    version: "0.2.0-alpha.12",
    era: "modern",
    args: ["--suite", "all", "--spec-version", "2026-07-28"],
  },
];

const { values: options } = parseArgs({ options: { only: { type: "string" }, verbose: { type: "boolean" } } });
const expected = JSON.parse(readFileSync(join(here, "expected.json"), "utf8"));
const installed = installSuites();
if (installed.problem) {
  const inCi = Boolean(process.env.CI);
  console.log(`${inCi ? "failed" : "skipped"}: the suite is not installed and cannot be (${installed.problem})`);
  process.exit(inCi ? 1 : 0);
}

const work = mkdtempSync(join(tmpdir(), "goblin-conformance-run-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
const problems = [];
const rows = [];
const document = readFileSync(join(root, "docs", "conformance.md"), "utf8");
if (!document.includes(`\n${differencesText(expected)}\n`)) {
  problems.push("docs/conformance.md does not say what expected.json does");
}
for (const suite of suites) {
  if (options.only && !eras.some((era) => `${suite.name}/${era}`.includes(options.only))) continue;
  const direct = await withFixture(suite.era, (url) => runSuite(suite, url, "direct"));
  rows.push([suite.name, suite.era, "direct", scoreOf(direct), ""]);
  const scores = [scoreOf(direct)];
  if (direct.failed > 0) problems.push(`${suite.name}: the fixture itself fails${listed(direct)}`);
  for (const era of eras) {
    const cell = `${suite.name}/${era}`;
    if (options.only && !cell.includes(options.only)) continue;
    const through = await withFixture(era, (url) => withGoblin(url, (goblin) => runSuite(suite, goblin, era)));
    const found = differences(direct, through);
    const { unexpected, stale } = judge(cell, found, expected);
    scores.push(scoreOf(through));
    rows.push([suite.name, era, "Goblin", scoreOf(through), `${found.size} differ, ${unexpected.length} unexpected`]);
    for (const line of unexpected) problems.push(`${cell}: ${line}`);
    for (const line of stale)
      problems.push(`${cell}: ${line}: is listed in expected.json and does not differ any more`);
  }
  if (!options.only && !document.replace(/ +/g, " ").includes(`| ${scores.join(" | ")} |`)) {
    problems.push(`${suite.name}: docs/conformance.md does not hold the scores ${scores.join(" | ")}`);
  }
}
if (!options.only || "authorization".includes(options.only)) {
  const own = await runAuthorization({ installed, root, work });
  rows.push(["authorization", "–", "Goblin's own", scoreOf(own), ""]);
  if (own.failed > 0) problems.push(`authorization: Goblin fails${listed(own)}`);
  const wanted = `The authorization server scenarios: ${scoreOf(own)}.`;
  if (!document.includes(wanted)) problems.push(`docs/conformance.md does not say: ${wanted}`);
}
print([["suite", "backend", "through", "passed/failed", "against direct"], ...rows]);
for (const problem of problems) console.log(`✗ ${problem}`);
console.log(problems.length === 0 ? "\nconformance: as expected" : `\nconformance: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

async function withFixture(era, use) {
  const fixture = await startServer([join(here, "fixture.js"), "--era", era]);
  return use(fixture.url).finally(fixture.stop);
}

async function withGoblin(url, use) {
  const config = join(work, "goblin.json");
  // The suite's names and URIs are fixed, and its tools ask their clients questions.
  const fixture = { type: "http", url, prefix: "", share: "session" };
  writeFileSync(config, JSON.stringify({ mcpServers: { fixture }, resources: { uris: "raw" } }));
  const args = [join(root, "bin", "goblin.js"), "serve", "--config", config, "--port", "0"];
  const goblin = await startServer(args, { XDG_STATE_HOME: work });
  try {
    await untilReady(new URL("/ready", goblin.url));
    return await use(goblin.url);
  } finally {
    await goblin.stop();
    if (options.verbose) console.log(goblin.output());
  }
}

async function untilReady(url) {
  for (let i = 0; i < 100; i++) {
    if ((await fetch(url).catch(() => undefined))?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("Goblin does not become ready");
}

async function runSuite({ name, version, args }, url, label) {
  const results = join(work, `${name}-${label}`);
  const command = [installed.entry(version), "server", "--url", url, "--output-dir", results, ...args];
  const { late, output } = await runToEnd(installed.node, command, SUITE_MS);
  if (late) throw new Error(`${name} did not end within ${SUITE_MS} ms:\n${output.slice(-2000)}`);
  return readResults(results);
}

function scoreOf({ passed, failed }) {
  return `${passed}/${failed}`;
}

function listed({ checks }) {
  const bad = [...checks].filter(([, { status }]) => status === "FAILURE");
  return bad.map(([check, { message }]) => `\n    ${check}: ${message}`).join("");
}

function print(table) {
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}
