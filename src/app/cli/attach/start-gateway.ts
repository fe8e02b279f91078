/**
 * Starts a gateway in the background, for clients that found none. It belongs to no client: it
 * serves all of them, and ends when nobody was connected for a while.
 *
 * Invariant: of clients that look at the same time, one starts it and the others wait.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { withFileLock } from "../../../auth/secrets/file-lock.ts";
import { type GatewayRecord, logFileOf, readRecord, startLock } from "../gateway/gateway-record.ts";
import { NoTunnel } from "./tunnel.ts";

export interface StartOptions {
  readonly config: string | undefined;
  readonly isFound: boolean;
  readonly stopWhenIdle: string;
}

const READY_MS = 40_000;
const LOOK_MS = 15;
const MAX_LOG = 5 * 1024 * 1024;
const SHOWN_LINES = 5;

/** Runs `use` while no other process starts the gateway of this config. */
export function aloneFor<T>(config: string | undefined, use: () => Promise<T>): Promise<T> {
  return withFileLock(startLock(config, process.env), use);
}

/** Returns the gateway when it listens. @throws NoTunnel with the end of its log */
export async function startGateway({ config, isFound, stopWhenIdle }: StartOptions): Promise<GatewayRecord> {
  const log = freshLog(config);
  const from = sizeOf(log);
  const output = openSync(log, "a", 0o600);
  const args = ["serve", "--background", "--stop-when-idle", stopWhenIdle];
  // A config of the current folder is found there again, so that it still needs to be trusted.
  if (config !== undefined && !isFound) args.push("--config", config);
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    cwd: config === undefined || isFound ? process.cwd() : folderOf(config),
    detached: true,
    windowsHide: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  let ended: string | undefined;
  child.once("error", (error) => {
    ended = error.message;
  });
  child.once("exit", () => {
    ended = lastLines(log, from);
  });
  child.unref();
  const end = Date.now() + READY_MS;
  for (;;) {
    const record = readRecord(config, process.env);
    if (record?.pid === child.pid && record) return record;
    if (ended !== undefined) throw new NoTunnel("refused", `the gateway could not start: ${ended} (log: ${log})`);
    if (Date.now() > end) throw new NoTunnel("absent", `the gateway does not listen yet (log: ${log})`);
    await pause(LOOK_MS);
  }
}

/** The log before is kept when it has grown. */
function freshLog(config: string | undefined): string {
  const file = logFileOf(config, process.env);
  if (sizeOf(file) > MAX_LOG) renameSync(file, `${file}.old`);
  return file;
}

/** Programs that the config names by a relative path are found from there. */
function folderOf(config: string): string {
  const folder = dirname(config);
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : homedir();
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function lastLines(file: string, from: number): string {
  const lines = readFileSync(file).subarray(from).toString("utf8").trim().split("\n");
  return lines.slice(-SHOWN_LINES).join("\n") || "it ended without a word";
}
