/**
 * A lock between the processes of one machine: a file that only one of them can create.
 *
 * A lock is free when its holder released it, has ended, or held it longer than any work takes. Who
 * removes such a left-over holds a second lock meanwhile, and looks again under it: otherwise two
 * processes could each remove the other's fresh lock.
 */
import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** No work under a lock takes this long. */
const STALE_MS = 60_000;
const TAKEOVER_STALE_MS = 5000;
const WAIT_MS = 45_000;
const RETRY_MS = 20;

/** Runs the work under the lock. Rejects if another process holds the lock for too long. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + WAIT_MS;
  while (!create(file)) {
    if (isStale(file, STALE_MS)) takeOver(file);
    else if (Date.now() > end) throw new Error(`another process holds ${file}; if none runs, remove it`);
    else await pause(RETRY_MS + Math.random() * RETRY_MS);
  }
  try {
    return await work();
  } finally {
    remove(file);
  }
}

/** Whether the holder of a lock has ended, or held it longer than any work takes. */
export function isStaleLock(file: string): boolean {
  return isStale(file, STALE_MS);
}

/** Removes a lock that is stale, and no other. */
export function removeStaleLock(file: string): void {
  takeOver(file);
}

function create(file: string): boolean {
  try {
    const made = openSync(file, "wx", 0o600);
    writeSync(made, String(process.pid));
    closeSync(made);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function isStale(file: string, afterMs: number): boolean {
  try {
    const { mtimeMs } = statSync(file);
    const holder = Number(readFileSync(file, "utf8"));
    if (Math.abs(Date.now() - mtimeMs) > afterMs) return true;
    // A fresh file without a number is just being written.
    return holder > 0 && holder !== process.pid && !isRunning(holder);
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function takeOver(file: string): void {
  const guard = `${file}.takeover`;
  if (!create(guard)) {
    if (isStale(guard, TAKEOVER_STALE_MS)) remove(guard);
    return;
  }
  try {
    if (isStale(file, STALE_MS)) remove(file);
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
