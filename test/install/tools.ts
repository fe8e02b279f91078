/**
 * The programs that check what Goblin is installed with. Where one is missing, its tests skip
 * themselves and say so; in CI, which installs them, they must not.
 */
import { spawnSync } from "node:child_process";

/** @throws in CI, if there is no such program */
export function hasTool(name: string, ...version: string[]): boolean {
  const { error, status } = spawnSync(name, version);
  if (!error && status === 0) return true;
  if (process.env["GOBLIN_CI"]) throw new Error(`${name} is missing, which .ci/run installs`);
  console.warn(`Skipped: there is no ${name} here`);
  return false;
}
