/**
 * Stores the found configs that the user trusts, by absolute path and digest, in the state folder.
 *
 * Invariant: an edited file is untrusted until the user agrees to its new text. Only the user can
 * add to the list: its mode is 0600, and a list that others can write is rejected. A link to a
 * trusted file is not trusted: its relative paths would lead elsewhere.
 */

import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { stateFolder } from "../../../config/state-folder.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { writeFileAtomicSync } from "../../../lib/structures/write-file-atomic.ts";

export interface Trusted {
  /** An absolute path; links in its folder are resolved. */
  readonly file: string;
  /** The digest of the file's bytes, in hex. */
  readonly sha256: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * The number of trusted versions per file, so that switching between branches does not ask each
 * time.
 */
const MAX_PER_FILE = 20;

export class TrustStore {
  readonly file: string;

  constructor(env: Readonly<Record<string, string | undefined>> = process.env) {
    this.file = join(stateFolder(env), "trusted.json");
  }

  isTrusted(path: string, digest: string): boolean {
    const file = placeOf(path);
    return this.list().some((one) => one.file === file && one.sha256 === digest);
  }

  trust(path: string, digest: string): void {
    const file = placeOf(path);
    const [others, same] = this.#split(file);
    const earlier = same.filter((one) => one.sha256 !== digest).slice(1 - MAX_PER_FILE);
    this.#write([...others, ...earlier, { file, sha256: digest, at: new Date().toISOString() }]);
  }

  /** Removes all versions of a file. Returns whether there were any. */
  untrust(path: string): boolean {
    const [others, same] = this.#split(placeOf(path));
    if (same.length > 0) this.#write(others);
    return same.length > 0;
  }

  /** Returns the trusted files. @throws Error if others can write the list */
  list(): Trusted[] {
    let text: string;
    try {
      const { mode, uid } = statSync(this.file);
      const isForeign = process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0);
      if (isForeign) {
        throw new Error(
          `other users can write to ${this.file}, so it is not trusted: remove it, or set its mode to 0600`,
        );
      }
      text = readFileSync(this.file, "utf8");
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return [];
      throw error;
    }
    return parseList(text);
  }

  #split(file: string): [others: Trusted[], same: Trusted[]] {
    const all = this.list();
    return [all.filter((one) => one.file !== file), all.filter((one) => one.file === file)];
  }

  /** Replaces the file atomically, because a running gateway may read it at any time. */
  #write(trusted: readonly Trusted[]): void {
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    writeFileAtomicSync(this.file, `${JSON.stringify({ trusted }, null, 2)}\n`);
  }
}

/** Parses the list; a malformed file trusts nothing. */
function parseList(text: string): Trusted[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const list = isRecord(value) && Array.isArray(value["trusted"]) ? value["trusted"] : [];
  return list.filter(isTrustedEntry);
}

function isTrustedEntry(value: unknown): value is Trusted {
  return isRecord(value) && [value["file"], value["sha256"], value["at"]].every((text) => typeof text === "string");
}

function placeOf(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}
