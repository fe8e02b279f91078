/**
 * A lock between the processes of one machine: a file that only one of them can create.
 *
 * A lock is free when its holder released it, has ended, or held it longer than any work takes. A
 * process that removes a stale lock holds a second lock meanwhile, and checks again under it:
 * otherwise two processes could each remove the other's fresh lock. A process that was suspended
 * until another one took over leaves the other's lock alone.
 *
 * The file names the holder: its process, its machine, and a number of its own. The clock may jump,
 * so its time alone ends no lock whose holder runs: the lock must also have been seen for a while.
 */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { isRunning } from "../../lib/process/is-running.ts";

/** No work under a lock takes this long. */
const STALE_MS = 60_000;
const TAKEOVER_STALE_MS = 5000;
/** How long a lock is watched, by a clock that does not jump, before its age counts. */
const WATCHED_MS = 20_000;
const WAIT_MS = 45_000;
const RETRY_MS = 20;

/** This process; another one may have had the same number before. */
const OWN = randomBytes(8).toString("hex");

/** Runs the work under the lock. Rejects if another process holds the lock for too long. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  let made = create(file);
  for (; made === undefined; made = create(file)) {
    const waited = performance.now() - since;
    if (isFree(file, STALE_MS, waited > WATCHED_MS)) takeOver(file, waited > WATCHED_MS);
    else if (waited > WAIT_MS) throw new Error(`another process holds ${file}; if none runs, remove it`);
    else await pause(RETRY_MS + Math.random() * RETRY_MS);
  }
  try {
    return await work();
  } finally {
    if (read(file) === made) remove(file);
  }
}

/** Whether the holder of a lock has ended, or held it longer than any work takes. */
export function isStaleLock(file: string): boolean {
  return isFree(file, STALE_MS, true);
}

/** Removes a lock that is stale, and no other. */
export function removeStaleLock(file: string): void {
  takeOver(file, true);
}

/** Returns what the file holds now; undefined: another one is there. */
function create(file: string): string | undefined {
  const text = `${process.pid} ${OWN}${randomBytes(4).toString("hex")} ${hostname()}`;
  try {
    const made = openSync(file, "wx", 0o600);
    writeSync(made, text);
    closeSync(made);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function isFree(file: string, afterMs: number, countsAge: boolean): boolean {
  try {
    const { mtimeMs } = statSync(file);
    const [pid, own = "", host = hostname()] = readFileSync(file, "utf8").split(" ");
    const holder = Number(pid);
    // A fresh file without a number is just being written.
    const hasEnded = holder > 0 && host === hostname() && !isHolder(holder, own);
    return hasEnded || (countsAge && Math.abs(Date.now() - mtimeMs) > afterMs);
  } catch {
    return false;
  }
}

function isHolder(pid: number, own: string): boolean {
  return pid === process.pid ? own.startsWith(OWN) : isRunning(pid);
}

function takeOver(file: string, countsAge: boolean): void {
  const guard = `${file}.takeover`;
  if (create(guard) === undefined) {
    if (isFree(guard, TAKEOVER_STALE_MS, true)) remove(guard);
    return;
  }
  try {
    if (isFree(file, STALE_MS, countsAge)) remove(file);
  } finally {
    remove(guard);
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
