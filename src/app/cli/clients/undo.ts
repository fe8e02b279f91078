/**
 * `goblin undo`: undoes what `install`, `uninstall`, `import`, `skill` or the wizard changed.
 * `--all` returns every client to its own servers.
 */

import { SecretStore } from "../../../auth/secrets/secret-store.ts";
import { clean } from "../../../lib/text/clean.ts";
import { readState, textOf } from "../../clients/files.ts";
import { Journal, type JournalEntry } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import { isRefused, type Undone, undoAll, undoEntry } from "../../clients/undoing.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { thisMachine } from "./machine.ts";

export interface UndoOptions {
  readonly all?: boolean | undefined;
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
  if (options.all && id !== undefined) throw new UsageError("--all takes no id");
  if (options.list) return printEntries(await journal.list(), options.json === true);
  if (options.all) return undoEverything(journal, options.json === true);
  const entry = id === undefined ? (await journal.list()).find(({ isUndone }) => !isUndone) : await journal.read(id);
  if (!entry && id !== undefined) throw new UsageError(`no change has the id ${id}; goblin undo --list shows the ids`);
  if (!entry) {
    console.log("There is nothing to undo.");
    return 0;
  }
  const done = await undoEntry(entry, { journal, machine: thisMachine() });
  const removed = done.some(isRefused) ? [] : await removeSecrets([entry]);
  if (options.json) printJson({ id: entry.id, command: entry.command, results: inJson(done), removedSecrets: removed });
  else tell(done, removed);
  return done.some(isRefused) ? 1 : 0;
}

async function undoEverything(journal: Journal, json: boolean): Promise<number> {
  const { done, entries } = await undoAll({ journal, machine: thisMachine() });
  const removed = await removeSecrets(entries);
  if (json) printJson({ results: inJson(done), removedSecrets: removed });
  else if (done.every(({ state }) => state === "unchanged")) console.log("There is nothing to undo.");
  else tell(done, removed);
  return done.some(isRefused) ? 1 : 0;
}

/** Removes the secrets that these commands stored, unless a file of theirs still refers to them. */
async function removeSecrets(entries: readonly JournalEntry[]): Promise<string[]> {
  const names = entries.flatMap(({ secrets = [] }) => secrets);
  if (names.length === 0) return [];
  const texts: string[] = [];
  for (const file of new Set(entries.flatMap(({ changes }) => changes.map((change) => change.file)))) {
    const found = await readState(file);
    if (found) texts.push(textOf(found));
  }
  const store = await SecretStore.open(process.env);
  const removed: string[] = [];
  for (const name of names) {
    const isUsed = texts.some((text) => text.includes(`\${keychain:${name}}`));
    if (!isUsed && (await store.remove(name))) removed.push(name);
  }
  return removed;
}

function inJson(done: readonly Undone[]) {
  return done.map((one) => ({
    file: one.file,
    state: one.state,
    ...(one.state === "edited" && { returned: one.returned, removed: one.taken }),
    ...((one.state === "refused" || one.state === "kept") && { reason: one.reason }),
  }));
}

function tell(done: readonly Undone[], removedSecrets: readonly string[]): void {
  for (const one of done) {
    if (one.state === "refused") complain(one);
    else console.log(clean(`${one.what}: ${wordsFor(one)} (${one.file})`));
  }
  for (const name of removedSecrets) console.log(clean(`secret "${name}": removed from your store`));
}

function wordsFor(one: Exclude<Undone, { state: "refused" }>): string {
  if (one.state === "kept") return `kept: ${one.reason}`;
  if (one.state === "unchanged") return "nothing to undo";
  if (one.state !== "edited") return one.state;
  const parts = [
    ...(one.returned.length > 0 ? [`put back ${one.returned.join(", ")}`] : []),
    ...(one.taken.length > 0 ? [`removed ${one.taken.join(", ")}`] : []),
  ];
  return `${parts.join("; ")}; the rest of the file stays as it is`;
}

function complain({ what, file, reason, change, now }: Extract<Undone, { state: "refused" }>): void {
  console.error(clean(`${what}: left alone, because ${reason} (${file})`));
  if (!now) return;
  for (const line of lineDiff(change?.after?.toString("utf8") ?? "", now.toString("utf8")))
    console.error(clean(`  ${line}`));
}

function printEntries(entries: readonly JournalEntry[], json: boolean): number {
  if (json) {
    printJson(entries.map(({ changes, ...entry }) => ({ ...entry, files: changes.map(({ file }) => file) })));
  } else if (entries.length === 0) console.log("There is nothing to undo.");
  else printTable(entries, columns);
  return 0;
}
