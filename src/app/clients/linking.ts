/**
 * Links clients to the gateway: adds its entry to their settings, removes it, and tells where it
 * stands.
 *
 * Invariant: a client whose file cannot be edited is named and left alone; the others go on.
 */

import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type GatewayTarget,
  type KnownClient,
  type Machine,
  type Program,
  remoteEntry,
  type SettingsEntry,
  type SettingsScope,
} from "./client.ts";
import { EditError, readServers, withEntry, withoutEntry } from "./edit/editor.ts";
import { FileError, type FileState, readState, replaceFile, textOf } from "./files.ts";
import type { Journal, Written } from "./journal.ts";

/** The name of the gateway's entry. */
export const OWN_NAME = "goblin";

/** One entry for the gateway, and where it leads. */
export interface GatewayEntry {
  /** The entry's name: that of the gateway, or of the gateway and a server. */
  readonly name: string;
  readonly gateway: GatewayTarget;
  readonly program: Program;
}

/** Returns the name of the entry for one server. */
export function serverEntryName(server: string): string {
  return `${OWN_NAME}-${server}`;
}

/** Whether Goblin wrote an entry, or another version of it did. */
export function isOwnEntry(name: string, entry: unknown): boolean {
  if (name === OWN_NAME) return true;
  if (!name.startsWith(serverEntryName(""))) return false;
  const text = JSON.stringify(entry) ?? "";
  return /"https?:\/\/[^"]*\/mcp\/s\/[^"/]+"/.test(text) || /"stdio",.*"--server"/.test(text);
}

export interface ClientState {
  readonly client: KnownClient;
  readonly scope: SettingsScope;
  readonly file: string;
  /** linked: the entry is as Goblin writes it. drifted: somebody changed it. */
  readonly state: "missing" | "found" | "linked" | "drifted" | "unreadable";
  /** Why it is unreadable. */
  readonly reason?: string;
  /** The names of the servers in it. */
  readonly servers: readonly string[];
}

export interface Planned {
  readonly client: KnownClient;
  readonly file: string;
  readonly before: FileState | undefined;
  readonly after: Buffer;
}

export type LinkResult = { readonly client: KnownClient; readonly file: string } & (
  | { readonly state: "planned"; readonly plan: Planned }
  | { readonly state: "unchanged" }
  | { readonly state: "refused"; readonly reason: string }
);

/** Returns the client's file of a scope; undefined if it has none. */
export async function fileOf(client: KnownClient, machine: Machine, scope: SettingsScope): Promise<string | undefined> {
  if (scope === "project") return client.project && posix.join(machine.cwd, ...client.project);
  const places = client.user(machine);
  for (const place of places) if (await exists(place)) return place;
  return places[0];
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await readState(path)) !== undefined;
  } catch {
    return true;
  }
}

export async function stateOf(
  client: KnownClient,
  machine: Machine,
  options: { scope: SettingsScope; links: readonly GatewayEntry[] },
): Promise<ClientState | undefined> {
  const { scope, links } = options;
  const file = await fileOf(client, machine, scope);
  if (file === undefined) return undefined;
  try {
    const found = await readState(file);
    if (!found) return { client, scope, file, state: "missing", servers: [] };
    const servers = await readServers(textOf(found), client);
    const own = [...servers].filter(([name, entry]) => isOwnEntry(name, entry));
    const isAsWritten = ([name, entry]: readonly [string, unknown]): boolean =>
      links.some((link) => link.name === name && entriesFor(client, link).some((wanted) => says(entry, wanted)));
    const state = own.length === 0 ? "found" : own.every(isAsWritten) ? "linked" : "drifted";
    return { client, scope, file, state, servers: [...servers.keys()] };
  } catch (error) {
    return { client, scope, file, state: "unreadable", reason: reasonOf(error), servers: [] };
  }
}

export interface LinkOptions {
  readonly scope: SettingsScope;
  readonly links: readonly GatewayEntry[];
  readonly mode: "http" | "stdio" | undefined;
  /** The client's own entries that the gateway replaces. */
  readonly without?: readonly string[];
}

/** Plans to add the gateway's entries, in place of earlier ones. Nothing is written. */
export async function planLink(
  client: KnownClient,
  machine: Machine,
  { scope, links, mode, without = [] }: LinkOptions,
): Promise<LinkResult | undefined> {
  const file = await fileOf(client, machine, scope);
  if (file === undefined) return undefined;
  const entries = links.map((link) => ({ name: link.name, entry: entryFor(client, link, mode) }));
  const problem = entries.find(({ entry }) => typeof entry === "string");
  if (problem) return { client, file, state: "refused", reason: String(problem.entry) };
  return plan(client, file, async (text) => {
    let next = text;
    for (const [name, entry] of await readServers(text, client)) {
      const isEarlier = isOwnEntry(name, entry) && !entries.some((one) => one.name === name);
      if (isEarlier || without.includes(name)) next = await withoutEntry(next, client, name);
    }
    for (const { name, entry } of entries)
      next = await withEntry(next, client, { name, entry: entry as SettingsEntry });
    return next;
  });
}

/** Plans to remove the gateway's entries. Undefined: there is none. */
export async function planUnlink(
  client: KnownClient,
  machine: Machine,
  scope: SettingsScope,
): Promise<LinkResult | undefined> {
  const file = await fileOf(client, machine, scope);
  if (file === undefined) return undefined;
  const outcome = await plan(client, file, async (text) => {
    let next = text;
    for (const [name, entry] of await readServers(text, client)) {
      if (isOwnEntry(name, entry)) next = await withoutEntry(next, client, name);
    }
    return next;
  });
  return outcome.state === "unchanged" ? undefined : outcome;
}

async function plan(client: KnownClient, file: string, edit: (text: string) => Promise<string>): Promise<LinkResult> {
  try {
    const before = await readState(file);
    const text = before ? textOf(before) : "";
    const next = await edit(text);
    if (next === text) return { client, file, state: "unchanged" };
    return { client, file, state: "planned", plan: { client, file, before, after: Buffer.from(next) } };
  } catch (error) {
    return { client, file, state: "refused", reason: reasonOf(error) };
  }
}

export interface Applied {
  /** Undoes all of it; undefined if nothing was written. */
  readonly id: string | undefined;
  readonly failures: readonly { readonly plan: Planned; readonly reason: string }[];
}

export interface Made extends Written {
  /** Runs when the journal is written, before any file is. If it fails, no file is. */
  readonly first?: () => Promise<void>;
}

/** Writes the plans, each on its own. */
export async function apply(
  { first, ...written }: Made,
  plans: readonly Planned[],
  journal: Journal,
): Promise<Applied> {
  if (plans.length === 0) return { id: undefined, failures: [] };
  const id = await journal.add(
    written,
    plans.map(({ client, file, before, after }) => ({
      file,
      what: client.title,
      after,
      before: before?.bytes,
      mode: before?.mode ?? 0o600,
    })),
  );
  await first?.();
  const failures: { plan: Planned; reason: string }[] = [];
  for (const one of plans) {
    try {
      await replaceFile(one.file, { before: one.before, after: one.after });
    } catch (error) {
      failures.push({ plan: one, reason: reasonOf(error) });
    }
  }
  return { id, failures };
}

function entryFor(
  client: KnownClient,
  { name, gateway, program }: GatewayEntry,
  mode: LinkOptions["mode"],
): SettingsEntry | string {
  const isProgram = mode === "stdio" || (mode === undefined && !client.remote);
  const entry = isProgram ? client.program(program) : remoteEntry(client, gateway);
  // Some clients have the name inside, too.
  return typeof entry === "string" || !("name" in entry) ? entry : { ...entry, name };
}

function entriesFor(client: KnownClient, link: GatewayEntry): SettingsEntry[] {
  return ([undefined, "http", "stdio"] as const)
    .map((mode) => entryFor(client, link, mode))
    .filter((entry) => typeof entry !== "string");
}

/** Compares without the name that lists have inside. */
function says(written: unknown, entry: SettingsEntry): boolean {
  const { name: _written, ...own } = JSON.parse(JSON.stringify(written)) as Record<string, unknown>;
  const { name: _entry, ...wanted } = JSON.parse(JSON.stringify(entry)) as Record<string, unknown>;
  return isDeepStrictEqual(own, wanted);
}

function reasonOf(error: unknown): string {
  if (error instanceof EditError || error instanceof FileError) return error.message;
  throw error;
}
