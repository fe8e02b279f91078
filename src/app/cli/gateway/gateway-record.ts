/**
 * Which gateways of this user run, one file for each config in the state folder. So clients find
 * the one of their config, wherever it listens.
 *
 * Invariant: a record counts only while its process runs. Only the process that wrote it removes
 * it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { configKey } from "../../../config/config-key.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { isRunning } from "../../../lib/process/is-running.ts";
import { writeFileAtomicSync } from "../../../lib/structures/write-file-atomic.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface GatewayRecord {
  readonly pid: number;
  /** The gateway's root URL. */
  readonly url: string;
  /** The root URL of its API, which may have its own address. */
  readonly adminUrl: string;
  /** Whether a client started it, with `goblin stdio --attach`. */
  readonly isBackground: boolean;
}

/** The folder of the records and of the logs of gateways in the background. */
function recordFolder(env: Environment): string {
  const folder = join(stateFolder(env), "gateways");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Returns the running gateway of this config; undefined for none that is known. */
export function readRecord(config: string | undefined, env: Environment): GatewayRecord | undefined {
  try {
    const text = readFileSync(fileOf(config, env), "utf8");
    const { pid, url, adminUrl, isBackground } = JSON.parse(text) as GatewayRecord;
    if (!Number.isInteger(pid) || pid < 1 || !URL.canParse(url) || !URL.canParse(adminUrl)) return undefined;
    return isRunning(pid) ? { pid, url, adminUrl, isBackground: isBackground === true } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the record of this process. Returns a function that removes it. */
export function writeRecord(config: string | undefined, record: GatewayRecord, env: Environment): () => void {
  recordFolder(env);
  const file = fileOf(config, env);
  writeFileAtomicSync(file, JSON.stringify(record));
  return () => {
    if (readRecord(config, env)?.pid === record.pid) rmSync(file, { force: true });
  };
}

/** The process that holds this lock may start or end the gateway of this config. */
export function startLock(config: string | undefined, env: Environment): string {
  return join(recordFolder(env), `${configKey(config)}.lock`);
}

/** The log of gateways of this config in the background, named for people. */
export function logFileOf(config: string | undefined, env: Environment): string {
  const name = config === undefined ? "demo" : basename(dirname(config)).replace(/[^\w.-]+/g, "_") || "root";
  return join(stateFolder(env), "gateways", `${name}-${configKey(config).slice(0, 8)}.log`);
}

/** Returns that log if there is one. */
export function backgroundLog(config: string | undefined, env: Environment): string | undefined {
  const file = logFileOf(config, env);
  return existsSync(file) ? file : undefined;
}

function fileOf(config: string | undefined, env: Environment): string {
  return join(stateFolder(env), "gateways", `${configKey(config)}.json`);
}
