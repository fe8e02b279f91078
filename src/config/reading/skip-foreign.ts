/**
 * Decides which keys of a config are left out: those that other programs write and Goblin has no
 * use for. Reports those that a user may rely on.
 */
import { nearestWord } from "../../lib/text/nearest/nearest-word.ts";
import { type Dialect, isSetting } from "../dialects/dialects.ts";
import { foreignKey } from "../dialects/foreign-keys.ts";
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";
import { keysAt } from "../schema/shape.ts";
import { isInEntry } from "./servers.ts";

/** More settings than this are reported together. */
const LISTED_SETTINGS = 3;

export class ForeignKeys {
  readonly #dialect: Dialect | undefined;
  readonly #keys: readonly string[];
  readonly #report: Report;
  readonly #settings: KeyPath[] = [];

  /** `keys`: the file's keys at the top level. */
  constructor(dialect: Dialect | undefined, keys: readonly string[], report: Report) {
    this.#dialect = dialect;
    this.#keys = keys;
    this.#report = report;
  }

  /** Returns whether to leave out a key and everything below it. */
  skips(path: KeyPath): boolean {
    if (path.length === 1) return this.#skipsSection(path);
    return path.length === 3 && isInEntry(path) && this.#skipsEntryKey(path);
  }

  /** Reports the program's other settings. Call it after the last key. */
  finish(): void {
    const [first] = this.#settings;
    if (first === undefined) return;
    if (this.#settings.length <= LISTED_SETTINGS) {
      for (const path of this.#settings) this.#warn(path, "ignored: a setting of another program");
      return;
    }
    const owner = this.#dialect?.program ?? "another program";
    this.#report.warn([], `ignored: ${this.#settings.length} other settings of ${owner}`);
  }

  #skipsSection(path: KeyPath): boolean {
    const key = String(path[0]);
    const note = this.#dialect?.notes?.[key];
    if (note !== undefined) return this.#warn(path, note);
    const foreign = foreignKey(path);
    if (foreign?.kind === "ignored") return true;
    if (foreign?.kind === "warned") return this.#warn(path, foreign.message);
    if (foreign?.kind !== "setting" && !isSetting(key, this.#dialect, this.#keys)) return false;
    this.#settings.push(path);
    return true;
  }

  #skipsEntryKey(path: KeyPath): boolean {
    const foreign = foreignKey(path);
    if (foreign?.kind === "ignored") return true;
    if (foreign?.kind === "warned") return this.#warn(path, foreign.message);
    const known = keysAt(path.slice(0, -1));
    if (foreign || !this.#dialect || known.includes(String(path[2]))) return false;
    const meant = nearestWord(String(path[2]), known);
    const hint = meant === undefined ? undefined : `did you mean ${JSON.stringify(meant)}?`;
    this.#report.warn(path, "ignored: Goblin does not know this key", { at: "key", hint });
    return true;
  }

  #warn(path: KeyPath, message: string): true {
    this.#report.warn(path, message, { at: "key" });
    return true;
  }
}
