// @ts-check
// Runs tests on another version of Node.js, from npm: the first word is 20, 22 or 24, the rest goes
// to vitest. The gateways, servers and commands of the tests are then of that version, too. It runs
// what is built.

import { spawnSync } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeRelease, RELEASES } from "./node-release.js";

const [major = "", ...words] = process.argv.slice(2);
const version = new Map(Object.entries(RELEASES)).get(major);
if (version === undefined) {
  console.error(`test-on-node: the first word must be one of ${Object.keys(RELEASES).join(", ")}, not "${major}"`);
  process.exit(2);
}
const node = nodeRelease(version);
console.log(`Node.js ${version}: ${words.join(" ") || "all tests"}`);
const { status } = spawnSync(
  node,
  [fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url)), "run", ...words],
  // What tests start by the name of node must be this one.
  { stdio: "inherit", env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env["PATH"]}` } },
);
process.exitCode = status ?? 1;
