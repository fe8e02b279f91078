/**
 * Undoes what commands changed in the files of MCP clients and in goblin.json.
 *
 * A file that nobody touched since gets its exact bytes back. In any other, only the entries that
 * the command changed are put back: clients rewrite their settings themselves, and what they wrote
 * stays.
 *
 * Invariant: goblin.json is not removed while a client has an entry of the gateway, or lacks
 * servers that a command took out of its settings.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../lib/structures/record.ts";
import { isLoopback } from "../../lib/text/loopback.ts";
import type { KnownClient, Machine } from "./client.ts";
import { EditError, readRest, readServers, type Settings, withEntryOf, withoutEntry } from "./edit/editor.ts";
import { FileError, type FileState, readState, replaceFile, textOf } from "./files.ts";
import { entriesIn } from "./foreign-entry.ts";
import { reachOf } from "./importing.ts";
import type { Change, Journal, JournalEntry } from "./journal.ts";
import { fileOf, isOwnEntry } from "./linking.ts";
import { clients } from "./table.ts";

/** How the journal names a change to goblin.json. */
export const CONFIG_TITLE = "goblin.json";

/** The sections of a goblin.json that have servers. */
const CONFIG_SECTIONS: readonly Settings[] = [
  { format: "json", section: ["mcpServers"] },
  { format: "json", section: ["servers"] },
];

export type Undone = { readonly file: string; readonly what: string } & (
  | { readonly state: "restored" | "removed" | "unchanged" }
  /** Only these entries were changed. */
  | { readonly state: "edited"; readonly returned: readonly string[]; readonly taken: readonly string[] }
  /** It is still needed. */
  | { readonly state: "kept"; readonly reason: string }
  | { readonly state: "refused"; readonly reason: string; readonly change?: Change; readonly now?: Buffer | undefined }
);

export interface Undoing {
  readonly journal: Journal;
  readonly machine: Machine;
}

/** Undoes one command: the clients first, then goblin.json. */
export async function undoEntry(entry: JournalEntry, undoing: Undoing): Promise<Undone[]> {
  const done: Undone[] = [];
  for (const change of entry.changes.toReversed()) {
    if (!isOfConfig(change)) done.push(await undoChange(change));
  }
  const open = done.filter(isRefused).map(({ what }) => what);
  for (const change of entry.changes.toReversed()) {
    if (!isOfConfig(change)) continue;
    const reason = await whyNeeded(change, open, undoing);
    const { file, what } = change;
    done.push(reason === undefined ? await undoChange(change) : { file, what, state: "refused", reason });
  }
  if (!done.some(isRefused)) await undoing.journal.markUndone(entry);
  return done;
}

/**
 * Returns every client to its own servers, whatever happened since: undoes all commands, then
 * removes entries of the gateway that are in no journal. goblin.json goes if Goblin created it and
 * clients have all of its servers.
 *
 * @returns what was done to each file, and the commands that are undone now
 */
export async function undoAll({ journal, machine }: Undoing): Promise<{ done: Undone[]; entries: JournalEntry[] }> {
  const all = await journal.list();
  const done = new Map<string, Undone>();
  const note = (one: Undone): void => {
    if (one.state !== "unchanged" || !done.has(one.file)) done.set(one.file, one);
  };
  const entries = all.filter(({ isUndone }) => !isUndone);
  for (const { changes } of entries) {
    for (const change of changes.toReversed()) if (!isOfConfig(change)) note(await undoChange(change));
  }
  const changes = all.flatMap((entry) => entry.changes);
  for (const { client, file } of await filesOf(changes, machine)) {
    const earlier = changes.filter((change) => change.file === file);
    const swept = await sweep(client, file, { earlier, journal });
    if (swept) note(swept);
  }
  for (const file of new Set(changes.filter(isOfConfig).map((change) => change.file)))
    note(await retireConfig(file, { changes, machine, journal }));
  const isDone = (entry: JournalEntry): boolean =>
    !entry.changes.some(({ file }) => done.get(file)?.state === "refused");
  const ended = entries.filter(isDone);
  for (const entry of ended) await journal.markUndone(entry);
  return { done: [...done.values()], entries: ended };
}

export function isRefused(one: Undone): one is Extract<Undone, { state: "refused" }> {
  return one.state === "refused";
}

function isOfConfig({ what }: Change): boolean {
  return what === CONFIG_TITLE;
}

/** Journals name clients by their titles. */
function settingsOf({ what }: Change): readonly Settings[] {
  if (what === CONFIG_TITLE) return CONFIG_SECTIONS;
  const client = clients.find(({ title }) => title === what);
  return client ? [client] : [];
}

async function undoChange(change: Change): Promise<Undone> {
  const { file, what, before, after, mode } = change;
  try {
    const now = await readState(file);
    if (same(now?.bytes, before)) return { file, what, state: "unchanged" };
    const all = settingsOf(change);
    if (!now && !(await takesServers(change, all))) return { file, what, state: "unchanged" };
    if (!now || same(now.bytes, after)) {
      await replaceFile(file, { before: now, after: before, mode });
      return { file, what, state: before === undefined ? "removed" : "restored" };
    }
    if (all.length === 0) {
      return { file, what, state: "refused", reason: "it has changed since", change, now: now.bytes };
    }
    return await undoEntries(change, now, all);
  } catch (error) {
    return { file, what, state: "refused", reason: reasonOf(error) };
  }
}

/** Whether the change took servers out of a file. Its own entries do not count. */
async function takesServers(change: Change, all: readonly Settings[]): Promise<boolean> {
  for (const settings of all) {
    const [old, made] = await serversOf(change, settings);
    if ([...old].some(([name, entry]) => !made.has(name) && !isOwnEntry(name, entry))) return true;
  }
  return false;
}

async function serversOf({ before, after }: Change, settings: Settings): Promise<[Servers, Servers]> {
  const [old, made] = await Promise.all([before, after].map((bytes) => readServers(written(bytes), settings)));
  return [old!, made!];
}

type Servers = ReadonlyMap<string, unknown>;

async function undoEntries(change: Change, now: FileState, all: readonly Settings[]): Promise<Undone> {
  const { file, what, before, mode } = change;
  const [returned, taken]: [string[], string[]] = [[], []];
  let text = textOf(now);
  for (const settings of all) {
    const [old, made] = await serversOf(change, settings);
    const present = await readServers(text, settings);
    const isGoblins = (name: string): boolean => {
      const entry = present.get(name);
      return isEqual(entry, made.get(name)) || (!isOfConfig(change) && isOwnEntry(name, entry));
    };
    for (const name of new Set([...old.keys(), ...made.keys()])) {
      if (isEqual(old.get(name), made.get(name))) continue;
      // A server of that name that somebody added since is theirs.
      const isFree = made.has(name) ? present.has(name) && isGoblins(name) : !present.has(name);
      if (!isFree) continue;
      if (old.has(name)) {
        text = await withEntryOf(text, settings, { name, from: written(before) });
        returned.push(name);
      } else {
        text = await withoutEntry(text, settings, name);
        taken.push(name);
      }
    }
  }
  const isEmpty = before === undefined && (await isAsCreated(text, change, all));
  if (!isEmpty && returned.length + taken.length === 0) return { file, what, state: "unchanged" };
  await replaceFile(file, { before: now, after: isEmpty ? undefined : Buffer.from(text), mode });
  return isEmpty ? { file, what, state: "removed" } : { file, what, state: "edited", returned, taken };
}

/** Whether a text has no servers, and nothing else that Goblin did not write. */
async function isAsCreated(text: string, { after }: Change, all: readonly Settings[]): Promise<boolean> {
  for (const settings of all) if ((await readServers(text, settings)).size > 0) return false;
  return isDeepStrictEqual(await restOf(text, all), await restOf(written(after), all));
}

async function restOf(text: string, all: readonly Settings[]): Promise<unknown> {
  const rest = (await readRest(text, all[0]!)) as Record<string, unknown>;
  for (const { section } of all.slice(1)) delete rest[section[0]!];
  return rest;
}

/** Returns why goblin.json must stay as it is. */
async function whyNeeded(
  change: Change,
  open: readonly string[],
  { journal, machine }: Undoing,
): Promise<string | undefined> {
  if (open.length > 0) return `${open.join(", ")} may need its servers`;
  if (change.before !== undefined) return undefined;
  const entries = await journal.list();
  const lacking: string[] = [];
  for (const { changes, isUndone } of entries) {
    for (const one of changes) if (!isUndone && (await lacksServers(one))) lacking.push(one.what);
  }
  if (lacking.length > 0)
    return `it has the servers that ${lacking.join(", ")} lacks: goblin undo --all puts them back`;
  const changes = entries.flatMap((entry) => entry.changes);
  const users = await clientsThatUse(change.file, changes, machine);
  return users.length === 0 ? undefined : `${users.join(", ")} still uses it: goblin undo --all`;
}

/** Whether servers that the change took out of a client's file are still missing there. */
async function lacksServers(change: Change): Promise<boolean> {
  if (isOfConfig(change)) return false;
  try {
    const now = await readState(change.file);
    for (const settings of settingsOf(change)) {
      const present = await readServers(now ? textOf(now) : "", settings);
      const [old, made] = await serversOf(change, settings);
      const isMissing = ([name, entry]: [string, unknown]): boolean =>
        !made.has(name) && !present.has(name) && !isOwnEntry(name, entry);
      if ([...old].some(isMissing)) return true;
    }
    return false;
  } catch (error) {
    reasonOf(error);
    return true;
  }
}

interface ClientFile {
  readonly client: KnownClient;
  readonly file: string;
}

/** Returns the clients' files: those of this machine, and those in the journal. */
async function filesOf(changes: readonly Change[], machine: Machine): Promise<ClientFile[]> {
  const files = new Map<string, KnownClient>();
  for (const client of clients) {
    for (const scope of ["user", "project"] as const) {
      const file = await fileOf(client, machine, scope);
      if (file !== undefined && !files.has(file)) files.set(file, client);
    }
  }
  for (const { file, what } of changes) {
    const client = clients.find(({ title }) => title === what);
    if (client && !files.has(file)) files.set(file, client);
  }
  return [...files].map(([file, client]) => ({ client, file }));
}

/** Returns the titles of the clients with an entry that leads to this config. */
async function clientsThatUse(config: string, changes: readonly Change[], machine: Machine): Promise<string[]> {
  const users = new Set<string>();
  for (const { client, file } of await filesOf(changes, machine)) {
    try {
      const now = await readState(file);
      const servers = now ? await readServers(textOf(now), client) : new Map<string, unknown>();
      const isUser = ([name, entry]: [string, unknown]): boolean =>
        isLocalEntry(name, entry) && [undefined, config].includes(configOf(entry));
      if ([...servers].some(isUser)) users.add(client.title);
    } catch (error) {
      reasonOf(error);
      // A file that no command changed has no entry of the gateway.
      if (changes.some((change) => change.file === file)) users.add(client.title);
    }
  }
  return [...users];
}

/** Whether an entry leads to a gateway of this machine. */
function isLocalEntry(name: string, entry: unknown): boolean {
  if (!isOwnEntry(name, entry)) return false;
  const urls = (JSON.stringify(entry) ?? "").match(/(?<=")https?:\/\/[^"]+/g) ?? [];
  return urls.every((url) => URL.canParse(url) && isLoopback(new URL(url).hostname));
}

/** Returns the config that an entry's program is started with. */
function configOf(entry: unknown): string | undefined {
  const [, written] = /"--config",("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(entry) ?? "") ?? [];
  return written === undefined ? undefined : (JSON.parse(written) as string);
}

/**
 * Removes the gateway's entries from a file, and returns the servers that earlier commands took
 * out: a client that was running may have written its old settings over an undo.
 */
async function sweep(
  client: KnownClient,
  file: string,
  { earlier, journal }: { readonly earlier: readonly Change[]; readonly journal: Journal },
): Promise<Undone | undefined> {
  const what = client.title;
  try {
    const now = await readState(file);
    if (!now) return undefined;
    const start = textOf(now);
    const present = await readServers(start, client);
    const taken = [...present].filter(([name, entry]) => isLocalEntry(name, entry)).map(([name]) => name);
    if (taken.length === 0) return undefined;
    let text = start;
    for (const name of taken) text = await withoutEntry(text, client, name);
    const returned: string[] = [];
    for (const change of earlier) {
      const [old, made] = await serversOf(change, client);
      for (const [name, entry] of old) {
        if (made.has(name) || present.has(name) || returned.includes(name) || isOwnEntry(name, entry)) continue;
        text = await withEntryOf(text, client, { name, from: written(change.before) });
        returned.push(name);
      }
    }
    const after = Buffer.from(text);
    await journal.add({ command: "undo --all" }, [{ file, what, before: now.bytes, after, mode: now.mode }], true);
    await replaceFile(file, { before: now, after });
    return { file, what, state: "edited", returned, taken };
  } catch (error) {
    const reason = reasonOf(error);
    return earlier.length > 0 ? { file, what, state: "refused", reason } : undefined;
  }
}

/** Removes goblin.json if nothing in it is needed any more. */
async function retireConfig(
  file: string,
  { changes, machine, journal }: Undoing & { readonly changes: readonly Change[] },
): Promise<Undone> {
  const what = CONFIG_TITLE;
  const kept = (reason: string): Undone => ({ file, what, state: "kept", reason });
  try {
    const now = await readState(file);
    if (!now) return { file, what, state: "unchanged" };
    const created = changes.find((one) => one.file === file && isOfConfig(one) && one.before === undefined);
    if (!created) return kept("it was there before Goblin changed it");
    const users = await clientsThatUse(file, changes, machine);
    if (users.length > 0) return { file, what, state: "refused", reason: `${users.join(", ")} still uses it` };
    const text = textOf(now);
    const elsewhere = await reachesOf(await filesOf(changes, machine));
    const alone: string[] = [];
    for (const settings of CONFIG_SECTIONS) {
      for (const [name, entry] of await readServers(text, settings))
        if (!isRecord(entry) || !elsewhere.has(reachOf(entry))) alone.push(name);
    }
    if (alone.length > 0) return kept(`no client has ${alone.join(", ")}`);
    const rest = await restOf(text, CONFIG_SECTIONS);
    if (!isDeepStrictEqual(rest, await restOf(written(created.after), CONFIG_SECTIONS)))
      return kept("it has settings of yours");
    const change = { file, what, before: now.bytes, after: undefined, mode: now.mode };
    await journal.add({ command: "undo --all" }, [change], true);
    await replaceFile(file, { before: now, after: undefined });
    return { file, what, state: "removed" };
  } catch (error) {
    return { file, what, state: "refused", reason: reasonOf(error) };
  }
}

/** Returns the reaches of all servers in clients' files. */
async function reachesOf(files: readonly ClientFile[]): Promise<Set<string>> {
  const reaches = new Set<string>();
  for (const { client, file } of files) {
    try {
      const now = await readState(file);
      if (!now) continue;
      for (const entry of (await entriesIn(textOf(now), client, file)).values()) reaches.add(reachOf(entry));
    } catch (error) {
      reasonOf(error);
    }
  }
  return reaches;
}

function written(bytes: Buffer | undefined): string {
  return bytes ? textOf({ bytes }) : "";
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

/** As JSON, so that objects of different parsers compare. */
function isEqual(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return isDeepStrictEqual(plain(a), plain(b));
}

function reasonOf(error: unknown): string {
  if (error instanceof EditError || error instanceof FileError) return error.message;
  throw error;
}
