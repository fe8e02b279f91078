/**
 * `goblin service run`: runs the gateway with a log file, for service managers that keep no log.
 * The log before is kept when it has grown.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface RunOptions {
  readonly config: string;
  readonly log: string;
}

const MAX_LOG = 5 * 1024 * 1024;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export async function runWithLog({ config, log }: RunOptions): Promise<number> {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG) renameSync(log, `${log}.old`);
  const output = openSync(log, "a", 0o600);
  const child = spawn(process.execPath, [process.argv[1]!, "serve", "--config", config], {
    windowsHide: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
