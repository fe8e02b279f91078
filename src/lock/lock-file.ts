/**
 * The lock file as text: what was approved of each server. It is sorted and has one line for each
 * tool, prompt and template, so that it is good to review and to merge.
 *
 * Each entry has its definition as the server sent it, since a pinned definition must be served
 * from a fresh clone too, and its digests. An entry that was
 * edited by hand has digests that do not fit: it is named with its line, and is not approved.
 */
import type { Definition } from "../catalog/definitions.ts";
import { depthOf } from "../json/json-elements.ts";
import { eachMember, oneLine } from "../json/json-text.ts";
import { messageOf } from "../protocol/errors.ts";
import { isRecord } from "../structures/record.ts";
import { type Source, sourceKeys } from "./source.ts";
import {
  digestOf,
  digestOfSurface,
  identifierOf,
  type LockedEntry,
  type LockedList,
  type LockedText,
  lockedEntry,
  type Surface,
  type SurfaceKind,
  surfaceKinds,
} from "./surface.ts";

const LOCK_VERSION = 1;
/** As in the lists of servers. */
const MAX_DEPTH = 100;

export interface LockedServer extends Surface {
  readonly source: Source;
}

export type LockedServers = ReadonlyMap<string, LockedServer>;

/** What is wrong in a lock file. */
export interface LockProblem {
  readonly line: number;
  readonly message: string;
  /** The server that it concerns; undefined: the file as a whole. */
  readonly server?: string | undefined;
}

export interface ReadLock {
  readonly servers: LockedServers;
  readonly problems: readonly LockProblem[];
  /** The line of each server. */
  readonly lines: ReadonlyMap<string, number>;
}

export function formatLock(servers: LockedServers): string {
  const sections = sortedEntries(servers).map(([id, server]) => `    ${JSON.stringify(id)}: ${serverText(server)}`);
  const body = sections.length > 0 ? `{\n${sections.join(",\n")}\n  }` : "{}";
  return `{\n  "version": ${LOCK_VERSION},\n  "servers": ${body}\n}\n`;
}

function serverText({ source, digest, instructions, resources, ...entries }: LockedServer): string {
  const members = [
    `"source": ${spaced(Object.fromEntries(sourceKeys.flatMap((key) => (source[key] ? [[key, source[key]]] : []))))}`,
    `"surface": ${JSON.stringify(digest)}`,
    ...(instructions ? [`"instructions": ${spaced({ digest: instructions.digest, text: instructions.text })}`] : []),
    ...surfaceKinds.map((kind) => `"${kind}": ${entriesText(entries[kind])}`),
    `"resources": ${spaced({ count: resources.count, digest: resources.digest })}`,
  ];
  return `{\n      ${members.join(",\n      ")}\n    }`;
}

function entriesText(entries: ReadonlyMap<string, LockedEntry>): string {
  if (entries.size === 0) return "{}";
  const lines = sortedEntries(entries).map(([name, { definition, digest, input, output, hints }]) => {
    const facts = spaced({ digest, input, output, hints }).slice(0, -2);
    return `        ${JSON.stringify(name)}: ${facts}, "definition": ${oneLine(definition.text)} }`;
  });
  return `{\n${lines.join(",\n")}\n      }`;
}

function spaced(members: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return `{ ${given.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(", ")} }`;
}

function sortedEntries<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Reads a lock file. Never throws: whatever cannot be used is a problem with its line. */
export function readLock(text: string): ReadLock {
  const lines = new Map<string, number>();
  const nothing = (line: number, message: string): ReadLock => ({
    servers: new Map(),
    lines,
    problems: [{ line, message }],
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return nothing(lineOfError(text, error), `not valid JSON: ${messageOf(error)}`);
  }
  if (!isRecord(value)) return nothing(1, "expected an object with a version and servers");
  const { version, servers } = value;
  if (version !== LOCK_VERSION) {
    const line = placeOf(text, 0, "version")?.line ?? 1;
    const newer = typeof version === "number" && version > LOCK_VERSION ? "update Goblin, or " : "";
    return nothing(line, `the file has another version than ${LOCK_VERSION}; ${newer}write it again with goblin lock`);
  }
  const place = placeOf(text, 0, "servers");
  if (!isRecord(servers) || !place) return nothing(place?.line ?? 1, 'expected an object "servers"');
  const reader = new ServerReader(text);
  const read = new Map<string, LockedServer>();
  for (const { key: id, start } of membersAt(text, place.start)) {
    lines.set(id, lineAt(text, start));
    const server = reader.server(id, start);
    if (server) read.set(id, server);
  }
  return { servers: read, problems: reader.problems, lines };
}

interface Place {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

class ServerReader {
  readonly #text: string;
  readonly problems: LockProblem[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  server(id: string, start: number): LockedServer | undefined {
    const members = new Map(membersAt(this.#text, start).map((member) => [member.key, member]));
    const problem = (at: number, message: string): undefined => {
      this.problems.push({ line: lineAt(this.#text, at), message: `${JSON.stringify(id)}: ${message}`, server: id });
    };
    const memberValue = (key: string): unknown => this.#value(members.get(key));
    for (const { key, start: at } of members.values()) {
      if (!SERVER_KEYS.has(key)) problem(at, `unknown key ${JSON.stringify(key)}`);
    }
    const entries = {
      tools: this.#entries("tools", members.get("tools"), problem),
      prompts: this.#entries("prompts", members.get("prompts"), problem),
      templates: this.#entries("templates", members.get("templates"), problem),
    };
    const instructions = textOf(memberValue("instructions"));
    if (members.has("instructions") && !instructions) {
      problem(members.get("instructions")!.start, "the digest of the instructions does not fit their text");
    }
    const resources = listIn(memberValue("resources"));
    const digest = memberValue("surface");
    const whole = digestOfSurface(entries, instructions);
    if (digest !== whole && !this.problems.some(({ server }) => server === id)) {
      // Entries were added or removed by hand: which ones is unknown, so none counts.
      const at = members.get("surface")?.start ?? start;
      return problem(at, `the digest of the surface does not fit; approve it again: goblin lock approve ${id}`);
    }
    return { source: sourceIn(memberValue("source")), digest: whole, instructions, resources, ...entries };
  }

  #value(place: Place | undefined): unknown {
    return place && JSON.parse(this.#text.slice(place.start, place.end));
  }

  #entries(
    kind: SurfaceKind,
    place: Place | undefined,
    problem: (at: number, message: string) => void,
  ): ReadonlyMap<string, LockedEntry> {
    const read = new Map<string, LockedEntry>();
    for (const { key: name, start, end } of place ? membersAt(this.#text, place.start) : []) {
      const what = `${kind.slice(0, -1)} ${JSON.stringify(name)}`;
      const entry = this.#entry(kind, name, { key: name, start, end });
      if (typeof entry === "string") problem(start, `${what}: ${entry}`);
      else read.set(name, entry);
    }
    return read;
  }

  #entry(kind: SurfaceKind, name: string, place: Place): LockedEntry | string {
    const written = this.#value(place);
    const span = membersAt(this.#text, place.start).find(({ key }) => key === "definition");
    if (!isRecord(written) || !span) return "expected an object with a definition";
    const text = this.#text.slice(span.start, span.end);
    const value = written["definition"];
    if (!isRecord(value) || depthOf(text) > MAX_DEPTH) return "its definition cannot be used";
    const definition: Definition = { text, value };
    if (identifierOf(kind, definition) !== name) return "its definition has another name";
    const entry = lockedEntry(kind, definition);
    const same = (["digest", "input", "output", "hints"] as const).every((key) => written[key] === entry[key]);
    return same ? entry : "its digests do not fit its definition: was the file edited by hand?";
  }
}

const SERVER_KEYS: ReadonlySet<string> = new Set([
  ...["source", "surface", "instructions", "resources"],
  ...surfaceKinds,
]);

function sourceIn(value: unknown): Source {
  if (!isRecord(value)) return {};
  return Object.fromEntries(sourceKeys.flatMap((key) => (typeof value[key] === "string" ? [[key, value[key]]] : [])));
}

function textOf(value: unknown): LockedText | undefined {
  if (!isRecord(value) || typeof value["text"] !== "string") return undefined;
  const digest = digestOf(value["text"]);
  return digest === value["digest"] ? { digest, text: value["text"] } : undefined;
}

function listIn(value: unknown): LockedList {
  const { count, digest } = isRecord(value) ? value : {};
  return { count: typeof count === "number" ? count : 0, digest: typeof digest === "string" ? digest : digestOf("") };
}

function membersAt(text: string, start: number): Place[] {
  const members: Place[] = [];
  eachMember(text, start, (key, from, end) => members.push({ key, start: from, end }));
  return members;
}

function placeOf(text: string, at: number, key: string): { readonly start: number; readonly line: number } | undefined {
  const place = membersAt(text, at).find((member) => member.key === key);
  return place && { start: place.start, line: lineAt(text, place.start) };
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** A merge conflict is named where it is; else the position that the error tells. */
function lineOfError(text: string, error: unknown): number {
  const conflict = /^(?:<{7}|={7}|>{7})/m.exec(text);
  const position = /position (\d+)/.exec(messageOf(error))?.[1];
  return lineAt(text, conflict?.index ?? (position === undefined ? text.length : Number(position)));
}
