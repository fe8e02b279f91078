/**
 * Recognises an npx folder that an interrupted install left half written. npx uses it again as it
 * is, so the server fails at every start until the folder is removed by hand.
 *
 * Nothing is deleted here: the operator gets the exact path and the command. A path comes from the
 * program's stderr, so it must be plain, absolute and a real folder of npx before it is shown in a
 * command that somebody may copy.
 */
import { statSync } from "node:fs";

const BROKEN = /Cannot find (?:package|module)|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|ENOTEMPTY|TAR_ENTRY_ERROR/;
const FOLDER = /(?:^|['"\s(]|file:\/\/)((?:[A-Za-z]:)?[\\/][\w .@+~\\/-]*?[\\/]_npx[\\/][0-9a-f]{16})(?![0-9a-z])/;

/** `lines`: the last ones of stderr. Returns the folder, if it is to blame. */
export function brokenNpxFolder(lines: readonly string[], isFolder = isRealFolder): string | undefined {
  if (!lines.some((line) => BROKEN.test(line))) return undefined;
  for (const line of lines) {
    const path = FOLDER.exec(line)?.[1];
    if (path !== undefined && !/[\\/]\.\.[\\/]/.test(path) && isFolder(path)) return path;
  }
  return undefined;
}

/** The reason and the remedy, in one sentence. */
export function npxRemedy(folder: string, platform: NodeJS.Platform = process.platform): string {
  const command = platform === "win32" ? `rmdir /s /q "${folder}"` : `rm -rf ${quoted(folder)}`;
  return `its npx folder is incomplete, probably from an interrupted install; remove it: ${command}`;
}

function quoted(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path}'`;
}

function isRealFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
