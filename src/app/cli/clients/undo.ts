/** `goblin undo`: takes back what `install`, `uninstall` or `import` changed, byte by byte. */

import { SecretStore } from "../../../auth/secrets/secret-store.ts";
import { clean } from "../../../lib/text/clean.ts";
import { Journal, type JournalEntry, type Undone } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

export interface UndoOptions {
  readonly list?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const columns: Column<JournalEntry>[] = [
  { title: "ID", text: ({ id }) => id },
  { title: "STATE", text: ({ isUndone }) => (isUndone ? "undone" : "done") },
  { title: "FILES", text: ({ changes }) => String(changes.length), align: "right" },
  { title: "COMMAND", text: ({ command }) => `goblin ${command}`.trim() },
];

export async function undo(id: string | undefined, options: UndoOptions): Promise<number> {
  const journal = new Journal(process.env);
  if (options.list) return printEntries(await journal.list(), options.json === true);
  const entry = id === undefined ? (await journal.list()).find(({ isUndone }) => !isUndone) : await journal.read(id);
  if (!entry && id !== undefined)
    throw new UsageError(`nothing has the id ${id}; goblin undo --list shows what has one`);
  if (!entry) {
    console.log("There is nothing to undo.");
    return 0;
  }
  const done = await journal.undo(entry);
  const removed = done.some(({ state }) => state === "refused") ? [] : await removeSecrets(entry);
  if (options.json) {
    const results = done.map((one) => ({
      file: one.change.file,
      state: one.state,
      ...(one.state === "refused" && { reason: one.reason }),
    }));
    printJson({ id: entry.id, command: entry.command, results, removedSecrets: removed });
  } else {
    for (const one of done) tell(one);
    for (const name of removed) console.log(clean(`secret "${name}": removed from your store`));
  }
  return done.some(({ state }) => state === "refused") ? 1 : 0;
}

/** A file that was left alone may still refer to them, so they go last. */
async function removeSecrets({ secrets = [] }: JournalEntry): Promise<string[]> {
  if (secrets.length === 0) return [];
  const store = await SecretStore.open(process.env);
  const removed: string[] = [];
  for (const name of secrets) if (await store.remove(name)) removed.push(name);
  return removed;
}

function tell(one: Undone): void {
  const { change, state } = one;
  if (state !== "refused") {
    const words = state === "unchanged" ? "was as before" : change.before === undefined ? "removed" : "restored";
    console.log(clean(`${change.what}: ${words} (${change.file})`));
    return;
  }
  console.error(clean(`${change.what}: left alone, because ${one.reason} (${change.file})`));
  if (!one.now) return;
  for (const line of lineDiff(change.after?.toString("utf8") ?? "", one.now.toString("utf8")))
    console.error(clean(`  ${line}`));
}

function printEntries(entries: readonly JournalEntry[], json: boolean): number {
  if (json) {
    printJson(entries.map(({ changes, ...entry }) => ({ ...entry, files: changes.map(({ file }) => file) })));
  } else if (entries.length === 0) console.log("There is nothing to undo.");
  else printTable(entries, columns);
  return 0;
}
