/**
 * Edits one server's entry in the text of a client's settings.
 *
 * Invariant: everything else keeps its bytes: comments, order, indentation, line ends and the byte
 * order mark. Every edit is checked by reading the result: if anything but the entry changed, the
 * edit is refused. Texts that cannot be read are refused, too.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../lib/structures/record.ts";
import type { KnownClient, SettingsEntry } from "../client.ts";
import { jsonFormat } from "./json.ts";
import { tomlFormat } from "./toml.ts";
import { yamlFormat } from "./yaml.ts";

/** A text that cannot be edited; the message says why. */
export class EditError extends Error {}

/** An entry under its name. */
export interface NamedSettings {
  readonly name: string;
  readonly entry: SettingsEntry;
  /** How the entry is written in another text of this format, comments included. */
  readonly source?: string | undefined;
}

export type ServersSection = Pick<KnownClient, "section" | "isList">;

/** How one kind of text is read and written. Texts have no byte order mark. */
export interface Format {
  /** Returns the whole value. @throws Error with the place */
  parse(text: string): unknown;
  put(text: string, servers: ServersSection, item: NamedSettings): string;
  remove(text: string, servers: ServersSection, name: string): string;
  /** Returns how the entry is written, without the indentation of its section. */
  sourceOf(text: string, servers: ServersSection, name: string): string | undefined;
}

const MARK = "\ufeff";

async function formatOf({ format }: Pick<KnownClient, "format">): Promise<Format> {
  return format === "json" ? jsonFormat : format === "toml" ? tomlFormat() : yamlFormat();
}

/** What the editor needs to know about a client. */
export type Settings = ServersSection & Pick<KnownClient, "format">;

/** Returns the servers by name. @throws EditError */
export async function readServers(text: string, client: Settings): Promise<Map<string, unknown>> {
  return serversIn(read(await formatOf(client), withoutMark(text)), client);
}

/** Adds or replaces the entry of this name. @throws EditError */
export async function withEntry(text: string, client: Settings, item: NamedSettings): Promise<string> {
  const format = await formatOf(client);
  const { name, entry } = item;
  return edited(text, format, {
    servers: client,
    edit: (body) => format.put(body, client, item),
    expect: (before) => changed(before, client, { name, entry: client.isList ? { name, ...entry } : entry }),
  });
}

/** Adds or replaces the entry of this name, as another text has it. @throws EditError */
export async function withEntryOf(
  text: string,
  client: Settings,
  { name, from }: { readonly name: string; readonly from: string },
): Promise<string> {
  const format = await formatOf(client);
  const entry = (await readServers(from, client)).get(name) as SettingsEntry;
  const item = { name, entry: client.isList ? nameless(entry) : entry };
  const source = format.sourceOf(withoutMark(from), client, name);
  try {
    return await withEntry(text, client, { ...item, source });
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    // Written anew, it lacks its comments, but is there.
    return withEntry(text, client, item);
  }
}

function nameless({ name: _name, ...entry }: SettingsEntry): SettingsEntry {
  return entry;
}

/** Returns the whole value of a text without its servers. @throws EditError */
export async function readRest(text: string, client: Settings): Promise<unknown> {
  const rest = plain(read(await formatOf(client), withoutMark(text))) as Record<string, unknown>;
  let parent: unknown = rest;
  for (const key of client.section.slice(0, -1)) parent = isRecord(parent) ? parent[key] : undefined;
  if (isRecord(parent)) delete parent[client.section.at(-1)!];
  return rest;
}

/** Removes the entry of this name. @throws EditError */
export async function withoutEntry(text: string, client: Settings, name: string): Promise<string> {
  const format = await formatOf(client);
  return edited(text, format, {
    servers: client,
    edit: (body) => format.remove(body, client, name),
    expect: (before) => changed(before, client, { name, entry: undefined }),
  });
}

interface Edit {
  readonly servers: ServersSection;
  readonly edit: (body: string) => string;
  /** Returns what the text should say afterwards. */
  readonly expect: (before: unknown) => unknown;
}

function edited(text: string, format: Format, { servers, edit, expect }: Edit): string {
  const body = withoutMark(text);
  const wanted = expect(read(format, body));
  const next = edit(body);
  let found: unknown;
  try {
    found = format.parse(next);
  } catch {
    // Not the same, whatever it is.
  }
  if (!isDeepStrictEqual(comparable(found, servers), comparable(wanted, servers))) {
    throw new EditError("it is written in a way that cannot be edited safely; edit it by hand");
  }
  return text.startsWith(MARK) ? MARK + next : next;
}

/** No servers are as good as no section. */
function comparable(value: unknown, { section }: ServersSection): unknown {
  const [first = ""] = section;
  const root = plain(value) as Record<string, unknown>;
  const own = root[first];
  if (own === null || (typeof own === "object" && Object.keys(own).length === 0)) delete root[first];
  return root;
}

function read(format: Format, body: string): unknown {
  try {
    return format.parse(body);
  } catch (error) {
    throw new EditError(`it cannot be read: ${(error as Error).message.split("\n")[0]}`);
  }
}

function serversIn(value: unknown, { section, isList }: ServersSection): Map<string, unknown> {
  let current: unknown = value;
  for (const key of section) current = isRecord(current) ? current[key] : undefined;
  if (current === undefined || current === null) return new Map();
  const name = section.join(".");
  if (isList) {
    if (!Array.isArray(current)) throw new EditError(`"${name}" is not a list`);
    const entries = current.filter(isRecord).map((entry) => [String(entry["name"]), entry] as const);
    // A list allows it. Which of the two the client uses is not known.
    const twice = entries.find(([own], i) => entries.findIndex(([other]) => other === own) < i);
    if (twice) throw new EditError(`"${twice[0]}" is there twice in "${name}"; remove one of them`);
    return new Map(entries);
  }
  if (!isRecord(current)) throw new EditError(`"${name}" is not a table of servers`);
  return new Map(Object.entries(current));
}

/** Returns a copy of the whole value with another entry of this name. */
function changed(
  value: unknown,
  servers: ServersSection,
  { name, entry }: { readonly name: string; readonly entry: unknown },
): unknown {
  serversIn(value, servers);
  const root = isRecord(value) ? structuredClone(plain(value) as Record<string, unknown>) : {};
  let current: Record<string, unknown> = root;
  const last = servers.section.at(-1)!;
  for (const key of servers.section.slice(0, -1)) {
    current[key] ??= {};
    current = current[key] as Record<string, unknown>;
  }
  if (servers.isList) {
    const list = (current[last] ?? []) as { name?: unknown }[];
    const at = list.findIndex((one) => one.name === name);
    if (entry === undefined) current[last] = list.filter((one) => one.name !== name);
    else if (at < 0) current[last] = [...list, entry];
    else current[last] = list.with(at, entry as { name: string });
    return root;
  }
  const own = { ...((current[last] ?? {}) as Record<string, unknown>) };
  if (entry === undefined) delete own[name];
  else own[name] = entry;
  current[last] = own;
  return root;
}

/** As JSON, so that objects of different parsers compare. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? {}));
}

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(1) : text;
}
