/**
 * What a run of the suite found, and how two runs differ. Pure but for reading the suite's result
 * files.
 *
 * A check is named `<scenario> <id> <name>`; where the suite reports one several times, its worst
 * status stands. What a check says by the way (INFO) and what does not apply (SKIPPED) is neither a
 * pass nor a failure.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const severity = { SUCCESS: 0, INFO: 1, SKIPPED: 1, WARNING: 2, FAILURE: 3 };

/**
 * Reads a folder of results: `{ passed, failed, warned, checks: Map<name, { status, message }> }`.
 */
export function readResults(folder) {
  const score = { SUCCESS: 0, FAILURE: 0, WARNING: 0 };
  const checks = new Map();
  for (const entry of readdirSync(folder).sort()) {
    const scenario = entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    for (const { id, name, status, errorMessage } of JSON.parse(readFileSync(join(folder, entry, "checks.json")))) {
      if (status in score) score[status] += 1;
      const key = `${scenario} ${id} ${name}`;
      const known = checks.get(key);
      if (!known || severity[status] > severity[known.status]) checks.set(key, { status, message: errorMessage ?? "" });
    }
  }
  return { passed: score.SUCCESS, failed: score.FAILURE, warned: score.WARNING, checks };
}

/** The checks that came out worse than in `direct`, or did not come at all, by name. */
export function differences(direct, through) {
  const found = new Map();
  for (const [name, { status }] of direct.checks) {
    const other = through.checks.get(name) ?? { status: "ABSENT", message: "the check was not reached" };
    if (status === "SUCCESS" ? other.status !== "SUCCESS" : rank(other.status) > rank(status)) found.set(name, other);
  }
  for (const [name, check] of through.checks) {
    if (!direct.checks.has(name) && rank(check.status) > 1) found.set(name, check);
  }
  return found;
}

const rank = (status) => severity[status] ?? 1;

/**
 * Holds the differences of one cell against the expected ones: `{ unexpected: [text], stale: [text]
 * }`.
 */
export function judge(cell, found, expected) {
  const listed = new Set(expected.filter(({ cells }) => cells.includes(cell)).flatMap(({ checks }) => checks));
  const unexpected = [...found]
    .filter(([name]) => !listed.has(name))
    .map(([name, { status, message }]) => `${name}: ${status} ${message}`.trim());
  const stale = [...listed].filter((name) => !found.has(name));
  return { unexpected, stale };
}

/** The list of differences that docs/conformance.md holds. */
export function differencesText(expected) {
  const entry = ({ checks, cells, reason }) =>
    [wrap(`**${cells.join(", ")}:** ${reason}`), "", ...checks.map((check) => `- \`${check}\``)].join("\n");
  return expected.map(entry).join("\n\n");
}

/** Breaks a paragraph into lines of at most 100 columns. */
function wrap(text) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== "" && line.length + 1 + word.length > 100) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}
