/**
 * What `goblin` alone does: with a config, the help; without one, the wizard on a terminal and the
 * demo elsewhere.
 */
import { existsSync } from "node:fs";
import { findConfig } from "../../../config/reading/find.ts";
import { namedConfig } from "../environment.ts";

export async function firstRun(help: () => void): Promise<number> {
  const named = namedConfig(undefined, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : named;
  if (path !== undefined && existsSync(path)) {
    help();
    return 2;
  }
  if (process.stdin.isTTY && process.stdout.isTTY) return (await import("./wizard.ts")).wizard();
  return (await import("../commands/serve.ts")).serve({});
}
