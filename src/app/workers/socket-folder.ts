/**
 * The folder of the workers' sockets: new for each primary process, and closed to other users.
 *
 * Invariants: the name cannot be foreseen, and a folder that was there before is never used. So
 * nobody can prepare it, or lead it elsewhere by a link. Only folders of this user whose primary
 * process has ended are removed. Windows has no such sockets: there each worker has a named pipe,
 * whose name has the same random part.
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isRunning } from "../../lib/process/is-running.ts";

const PREFIX = "goblin-workers-";
const NAME = /^goblin-workers-(\d+)-/;
/** A socket's address has room for 103 bytes on every system; a worker's name takes the rest. */
const MAX_PATH_LENGTH = 80;
const SOCKET = /[/-](\d+)-\d+$/;

/** Makes the folder. `parent` is for tests. */
export function makeSocketFolder(parent: string = shortFolder()): string {
  removeLeftovers(parent);
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
}

export interface Socketed {
  readonly folder: string;
  readonly number: number;
  readonly pid: number;
  readonly platform?: NodeJS.Platform;
}

/** Returns the address where a worker takes what the others hand over. */
export function socketAddress({ folder, number, pid, platform = process.platform }: Socketed): string {
  const name = `${number}-${pid}`;
  return platform === "win32" ? `unix:\\\\.\\pipe\\${basename(folder)}-${name}` : `unix:${join(folder, name)}`;
}

/** Returns the number of the worker with this address, of this primary or an earlier one. */
export function numberIn(address: string): number | undefined {
  const number = SOCKET.exec(address)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The usual folder for such things may have a long name. */
function shortFolder(): string {
  const usual = tmpdir();
  return process.platform === "win32" || Buffer.byteLength(usual) + PREFIX.length <= MAX_PATH_LENGTH ? usual : "/tmp";
}

/** Removes what killed processes left. A link is not followed, and what belongs to others stays. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    try {
      const path = join(parent, name);
      const { uid } = lstatSync(path);
      if (process.getuid === undefined || uid === process.getuid()) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removes it, too.
    }
  }
}
