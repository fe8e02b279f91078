/**
 * Decides where a gateway listens before it starts anything. A gateway in the background makes way
 * for one that its user runs with the same config, and takes a free port if its own is in use.
 */
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { withFileLock } from "../../../auth/secrets/file-lock.ts";
import type { Config } from "../../../config/schema/config.ts";
import { isRunning } from "../../../lib/process/is-running.ts";
import { readRecord, startLock } from "./gateway-record.ts";

export interface SettleOptions {
  readonly config: Config;
  readonly configPath: string | undefined;
  readonly isBackground: boolean;
}

const LOOK_MS = 50;
/** Beyond the time that calls in flight get to finish. */
const SPARE_MS = 10_000;

export interface Settled {
  /** The port to listen on. */
  readonly port: number;
  /** To be called when the gateway listens: until then, no client starts another one. */
  readonly started: () => void;
}

export async function settlePort({ config, configPath, isBackground }: SettleOptions): Promise<Settled> {
  const { host, port } = config.gateway;
  const patienceMs = config.timeouts.drainMs + SPARE_MS;
  if (!isBackground) return { port, started: await endBackground(configPath, patienceMs) };
  const isTaken = port !== 0 && !(await isFree(host, port));
  return { port: isTaken ? 0 : port, started() {} };
}

/** Its clients go to the next gateway. Returns a function that lets them start one again. */
async function endBackground(configPath: string | undefined, patienceMs: number): Promise<() => void> {
  const before = readRecord(configPath, process.env);
  if (!before?.isBackground) return () => {};
  const release = await hold(startLock(configPath, process.env));
  process.kill(before.pid, "SIGTERM");
  for (const end = Date.now() + patienceMs; Date.now() < end; await pause(LOOK_MS)) {
    if (!isRunning(before.pid)) break;
  }
  return release;
}

/** Takes a lock until the returned function is called. */
function hold(lock: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    withFileLock(lock, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
