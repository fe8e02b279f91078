/**
 * Collects the servers of all clients for goblin.json: each server once, under a name that is free.
 *
 * Two entries are the same server if they run the same command with the same arguments, or have the
 * same URL. The gateway's own entry is no server.
 */
import type { KnownClient, Machine, SettingsEntry, SettingsScope } from "./client.ts";
import { EditError } from "./edit/editor.ts";
import { FileError, readState, textOf } from "./files.ts";
import { entriesIn } from "./foreign-entry.ts";
import { fileOf, isOwnEntry, OWN_NAME } from "./linking.ts";

export interface FoundServer {
  readonly name: string;
  readonly entry: SettingsEntry;
  readonly client: KnownClient;
  readonly file: string;
}

export interface Import extends FoundServer {
  /** Its name in the client's file. */
  readonly written: string;
  /** new: to be added. duplicate: another client has it, too. known: the config has it. */
  readonly state: "new" | "duplicate" | "known";
  /** The name of the server that it is the same as. */
  readonly same?: string;
}

export interface Problem {
  readonly client: KnownClient;
  readonly file: string;
  readonly reason: string;
}

/**
 * Reads the clients' files of one scope: a project may be somebody else's. One that cannot be read
 * is a problem; the others go on.
 */
export async function findServers(
  clients: readonly KnownClient[],
  machine: Machine,
  scope: SettingsScope = "user",
): Promise<{ readonly servers: FoundServer[]; readonly problems: Problem[] }> {
  const servers: FoundServer[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const client of clients) {
    const file = await fileOf(client, machine, scope);
    if (file === undefined || seen.has(file)) continue;
    seen.add(file);
    try {
      const found = await readState(file);
      if (!found) continue;
      for (const [name, entry] of await entriesIn(textOf(found), client, file)) {
        if (!isOwn(name, entry)) servers.push({ name, entry: placed(entry, scope, machine), client, file });
      }
    } catch (error) {
      if (!(error instanceof EditError) && !(error instanceof FileError)) throw error;
      problems.push({ client, file, reason: error.message });
    }
  }
  return { servers, problems };
}

/** Decides what is new. `known`: the servers of the config. */
export function chooseServers(found: readonly FoundServer[], known: ReadonlyMap<string, SettingsEntry>): Import[] {
  const names = new Set([...known.keys()].map((name) => name.toLowerCase()));
  const byReach = new Map([...known].map(([name, entry]) => [reachOf(entry), { name, isKnown: true }]));
  return found.map((server) => {
    const reach = reachOf(server.entry);
    const same = byReach.get(reach);
    const written = server.name;
    if (same) return { ...server, written, state: same.isKnown ? "known" : "duplicate", same: same.name };
    const name = freeName(server, names);
    names.add(name.toLowerCase());
    byReach.set(reach, { name, isKnown: false });
    return { ...server, name, written, state: "new" };
  });
}

function freeName({ name, client }: FoundServer, taken: ReadonlySet<string>): string {
  const stem = name.toLowerCase() === OWN_NAME ? `${name}-${client.id}` : name;
  if (!taken.has(stem.toLowerCase())) return stem;
  const own = `${stem}-${client.id}`;
  let free = own;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${own}-${n}`;
  return free;
}

/** Returns the same text for entries that are the same server. */
export function reachOf({ command, args, url }: SettingsEntry): string {
  return JSON.stringify(url === undefined ? [command, args ?? []] : String(url).replace(/\/$/, ""));
}

function isOwn(name: string, { command, args, url }: SettingsEntry): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  if (words.some((word) => /(^|[/\\])(goblin-mcp|goblin(\.js)?)(@[\w.-]+)?$/.test(word))) return true;
  if (name !== OWN_NAME && isOwnEntry(name, { command, args, url })) return true;
  return name === OWN_NAME && url !== undefined && /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])/.test(String(url));
}

/** A project's entry means its folder; the config is elsewhere. */
function placed(entry: SettingsEntry, scope: SettingsScope, { cwd }: Machine): SettingsEntry {
  if (scope !== "project") return entry;
  const text = JSON.stringify(entry).replaceAll("${workspaceFolder}", () => JSON.stringify(cwd).slice(1, -1));
  const own = JSON.parse(text) as SettingsEntry;
  return own["command"] === undefined || own["cwd"] !== undefined ? own : { ...own, cwd };
}
