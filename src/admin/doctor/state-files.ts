/**
 * Examines the state folder: who may read it, and locks that a process left behind.
 *
 * It has keys and sessions in it, so nobody but its user may look into it.
 */
import { chmodSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { isStaleLock, removeStaleLock } from "../../auth/secrets/file-lock.ts";
import type { Finding } from "./finding.ts";

const OTHERS = 0o077;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export function examineStateFolder(folder: string, platform: string = process.platform): Finding[] {
  const stats = statsOf(folder);
  if (!stats) return [{ level: "ok", code: "state_folder", where: folder, what: "not made yet" }];
  if (!stats.isDirectory()) {
    const remedy = "move the file away";
    return [{ level: "error", code: "state_folder", where: folder, what: "is not a folder", remedy }];
  }
  const found: Finding[] = [];
  try {
    found.push(...examineFolder(folder, platform));
  } catch (error) {
    const what = `cannot be read: ${(error as Error).message}`;
    found.push({ level: "error", code: "state_folder", where: folder, what, remedy: "give it to your user" });
  }
  if (found.length === 0) found.push({ level: "ok", code: "state_folder", where: folder, what: "for its user only" });
  return found;
}

function* examineFolder(folder: string, platform: string): Generator<Finding> {
  yield* rights(folder, platform);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = statsOf(path);
    if (stats?.isDirectory()) yield* examineFolder(path, platform);
    else if (stats?.isFile()) {
      yield* rights(path, platform);
      if (name.endsWith(".lock") && isStaleLock(path)) yield staleLock(path);
    }
  }
}

/** Windows has other rights than these. */
function* rights(path: string, platform: string): Generator<Finding> {
  const stats = statsOf(path);
  if (!stats || platform === "win32") return;
  const own = process.getuid?.();
  if (own !== undefined && stats.uid !== own) {
    const remedy = `give it to your user: sudo chown -R ${own} ${path}`;
    yield { level: "error", code: "state_owner", where: path, what: "belongs to another user", remedy };
  } else if ((stats.mode & OTHERS) !== 0) {
    const mode = stats.isDirectory() ? FOLDER_MODE : FILE_MODE;
    yield {
      level: "warning",
      code: "state_rights",
      where: path,
      what: `others may read it (mode ${shown(stats.mode)})`,
      remedy: `chmod ${shown(mode)} ${path}`,
      fix: async () => {
        chmodSync(path, mode);
        return `set its mode to ${shown(mode)}`;
      },
    };
  }
}

function staleLock(path: string): Finding {
  return {
    level: "warning",
    code: "stale_lock",
    where: path,
    what: "a lock of a process that has ended",
    remedy: "remove it, or leave it: the next process takes it over",
    fix: async () => {
      removeStaleLock(path);
      return "removed it";
    },
  };
}

const shown = (mode: number): string => (mode & 0o777).toString(8).padStart(3, "0");

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
