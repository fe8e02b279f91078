/**
 * Keeps every change to a file of another program, with the bytes before and after, so that it can
 * be undone. One file of the state folder for each command, for the user only.
 *
 * Invariant: a change is in the journal before it is made.
 */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { writeFileAtomic } from "../../lib/structures/write-file-atomic.ts";

export interface Change {
  readonly file: string;
  /** What the file is, in words. */
  readonly what: string;
  /** Undefined: there was no file. */
  readonly before: Buffer | undefined;
  readonly after: Buffer | undefined;
  readonly mode: number;
}

/** What one command did besides its changes to files. */
export interface Written {
  /** The command that made the changes. */
  readonly command: string;
  /** The names of the secrets that it put into the store. */
  readonly secrets?: readonly string[];
}

export interface JournalEntry extends Written {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly changes: readonly Change[];
  readonly isUndone: boolean;
}

const ID = /^[0-9TZ-]{8,40}$/;

export class Journal {
  readonly #folder: string;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#folder = join(stateFolder(env), "undo");
  }

  /**
   * Writes down what is about to be changed. Returns the id that undoes it. `isUndone`: the changes
   * are an undo themselves.
   */
  async add(written: Written, changes: readonly Change[], isUndone = false): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const at = new Date().toISOString();
    const known = new Set((await this.list()).map(({ id }) => id));
    const stem = at.replace(/[:.]/g, "-");
    let id = stem;
    for (let n = 2; known.has(id); n++) id = `${stem}-${n}`;
    await this.#write({ id, at, ...written, changes, isUndone });
    return id;
  }

  /** Returns all entries, the newest first. What cannot be read is left out. */
  async list(): Promise<JournalEntry[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const ids = names.flatMap((name) => (name.endsWith(".json") ? name.slice(0, -".json".length) : []));
    const entries = await Promise.all(ids.map((id) => this.read(id)));
    return entries.filter((entry) => entry !== undefined).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async read(id: string): Promise<JournalEntry | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      const value: unknown = JSON.parse(await readFile(join(this.#folder, `${id}.json`), "utf8"));
      if (!isRecord(value) || !Array.isArray(value["changes"])) return undefined;
      return { ...(value as unknown as JournalEntry), changes: value["changes"].filter(isRecord).map(decoded) };
    } catch {
      return undefined;
    }
  }

  async markUndone(entry: JournalEntry): Promise<void> {
    await this.#write({ ...entry, isUndone: true });
  }

  async #write(entry: JournalEntry): Promise<void> {
    const file = join(this.#folder, `${entry.id}.json`);
    const changes = entry.changes.map(({ before, after, ...rest }) => ({
      ...rest,
      before: before?.toString("base64") ?? null,
      after: after?.toString("base64") ?? null,
    }));
    await writeFileAtomic(file, JSON.stringify({ ...entry, changes }));
  }
}

function decoded(change: Record<string, unknown>): Change {
  const bytes = (value: unknown): Buffer | undefined =>
    typeof value === "string" ? Buffer.from(value, "base64") : undefined;
  const { file, what, mode, before, after } = change;
  return { file: String(file), what: String(what), mode: Number(mode), before: bytes(before), after: bytes(after) };
}
