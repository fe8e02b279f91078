// @ts-check
// Node.js of another version than the one that runs this: its program, from npm. npm checks what it
// downloads; the copy stays in node_modules/.cache. The single executable is made with it, and
// tests run on each version that Goblin supports.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The newest of each long-term version when this was written; CI and executables use these. */
export const RELEASES = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0" };

const cache = fileURLToPath(new URL("../node_modules/.cache/goblin-node/", import.meta.url));

/**
 * The path of that version's program for this system.
 * @param {string} version
 */
export function nodeRelease(version) {
  const system = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const folder = join(cache, `${version}-${system}`);
  const name = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  const program = join(folder, "node_modules", `node-${system}`, name);
  if (existsSync(program)) return program;
  // Installed beside and renamed: two processes may want it at once.
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, "package.json"), '{ "private": true }');
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `node-${system}@${version}`];
  const { status, stderr } = spawnSync("npm", args, {
    cwd: fresh,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm could not install Node.js ${version} for ${system}: ${stderr}`);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(program)) throw error;
  }
  return program;
}
