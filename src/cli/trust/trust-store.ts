/**
 * The configs of other people's folders that the user agreed to, by absolute path and digest, in
 * the state folder.
 *
 * What must always hold: an edit makes a file untrusted until its new text is agreed to, and nobody
 * but the user can add to the list: it has the mode 0600, and one that others can write is refused.
 * A link to a trusted file is not trusted: relative paths in it would lead elsewhere.
 */
import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { isObject } from "../../protocol/schema-shape.ts";

export interface Trusted {
  /** Absolute; its folder without links. */
  readonly file: string;
  /** Of the file's bytes, in hex. */
  readonly sha256: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * Texts of one file that stay trusted, so that going back and forth between branches does not ask
 * each time.
 */
const MOST_OF_ONE_FILE = 20;

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
    const earlier = same.filter((one) => one.sha256 !== digest).slice(1 - MOST_OF_ONE_FILE);
    this.#write([...others, ...earlier, { file, sha256: digest, at: new Date().toISOString() }]);
  }

  /** Answers whether it was trusted, in any version. */
  untrust(path: string): boolean {
    const [others, same] = this.#split(placeOf(path));
    if (same.length > 0) this.#write(others);
    return same.length > 0;
  }

  /** @throws Error if others could have written the list */
  list(): Trusted[] {
    let text: string;
    try {
      const { mode, uid } = statSync(this.file);
      const isForeign = process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0);
      if (isForeign) {
        throw new Error(
          `${this.file} can be written by others, so it is not believed: remove it, or set its mode to 0600`,
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

  /** In one step: a gateway that runs may read it at any time. */
  #write(trusted: readonly Trusted[]): void {
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    const fresh = `${this.file}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify({ trusted }, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, this.file);
  }
}

/** What is no list of this program's trusts nothing. */
function parseList(text: string): Trusted[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const list = isObject(value) && Array.isArray(value["trusted"]) ? value["trusted"] : [];
  return list.filter(isTrustedEntry);
}

function isTrustedEntry(value: unknown): value is Trusted {
  return isObject(value) && [value["file"], value["sha256"], value["at"]].every((text) => typeof text === "string");
}

function placeOf(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}
