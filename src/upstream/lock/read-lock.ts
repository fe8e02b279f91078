/**
 * Reads a lock file, in slices: a file of some megabytes must not stop the gateway.
 *
 * Invariant: never throws. Whatever cannot be used is a problem with its line, and approves
 * nothing.
 * An entry that was edited by hand has digests that do not fit: it is named, and not approved.
 */

import { canonical } from "../../lib/json/canonical.ts";
import { depthOf } from "../../lib/json/json-elements.ts";
import { parseInSlices } from "../../lib/json/json-parse.ts";
import { memberSpan, skipSpace, skipValue } from "../../lib/json/json-text.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import type { Sliced } from "../../lib/timing/slices.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Definition } from "../catalog/definitions.ts";
import { LOCK_VERSION, type LockedServer, type LockProblem, type ReadLock } from "./lock-file.ts";
import { type Source, sourceKeys } from "./source.ts";
import {
  digestOf,
  digestOfList,
  digestOfSurface,
  identifierOf,
  type LockedEntry,
  type LockedList,
  type LockedText,
  lockedEntry,
  readSelfDescription,
  type SurfaceKind,
  surfaceKinds,
} from "./surface.ts";
import { firstMember, memberAfter, memberAt } from "./walk-members.ts";

/** As in the lists of servers. */
const MAX_DEPTH = 100;

export function* readLock(text: string): Sliced<ReadLock> {
  const lineOf = linesOf(text);
  const lines = new Map<string, number>();
  const nothing = (line: number, message: string): ReadLock => ({
    servers: new Map(),
    lines,
    problems: [{ line, message }],
  });
  let value: unknown;
  try {
    value = yield* parseInSlices(Buffer.from(text));
  } catch (error) {
    return nothing(lineOf(placeOfError(text)), `not valid JSON: ${wordsOf(text, error)}`);
  }
  if (!isRecord(value)) return nothing(1, "expected an object with a version and servers");
  const root = skipSpace(text, 0);
  const { version, servers } = value;
  if (version !== LOCK_VERSION) {
    const line = lineOf(memberSpan(text, root, "version")?.start ?? 0);
    const newer = typeof version === "number" && version > LOCK_VERSION ? "update Goblin, or " : "";
    return nothing(line, `the file has another version than ${LOCK_VERSION}; ${newer}write it again with goblin lock`);
  }
  const start = startOf(text, root, "servers");
  if (!isRecord(servers) || start === undefined) return nothing(lineOf(start ?? 0), 'expected an object "servers"');
  const reader = new ServerReader(text, lineOf);
  const read = new Map<string, LockedServer>();
  let at = firstMember(text, start);
  for (let member = memberAt(text, at); member; member = memberAt(text, at)) {
    lines.set(member.key, lineOf(member.start));
    const { server, end } = yield* reader.server(member.key, member.start);
    if (server) read.set(member.key, server);
    at = memberAfter(text, end);
  }
  return { servers: read, problems: reader.problems, lines };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

type Tell = (at: number, message: string) => void;

class ServerReader {
  readonly #text: string;
  readonly #lineOf: (position: number) => number;
  readonly problems: LockProblem[] = [];

  constructor(text: string, lineOf: (position: number) => number) {
    this.#text = text;
    this.#lineOf = lineOf;
  }

  *server(id: string, start: number): Sliced<{ readonly server: LockedServer | undefined; readonly end: number }> {
    const text = this.#text;
    let isWhole = true;
    const problem: Tell = (at, message) => {
      isWhole = false;
      this.problems.push({ line: this.#lineOf(at), message: `${JSON.stringify(id)}: ${message}`, server: id });
    };
    const members = new Map<string, Place>();
    const entries = { tools: NONE, prompts: NONE, templates: NONE };
    let at = firstMember(text, start);
    for (let member = memberAt(text, at); member; member = memberAt(text, at)) {
      const { key } = member;
      const kind = surfaceKinds.find((one) => one === key);
      const read = kind && (yield* this.#entries(kind, member.start, problem));
      const end = read?.end ?? skipValue(text, member.start);
      if (kind && read) entries[kind] = read.entries;
      else if (!SERVER_KEYS.has(key)) problem(member.start, `unknown key ${JSON.stringify(key)}`);
      members.set(key, { start: member.start, end });
      at = memberAfter(text, end);
    }
    const end = at < 0 ? skipValue(text, start) : at + 1;
    const memberValue = (key: string): unknown => this.#value(members.get(key));
    const instructions = textOf(memberValue("instructions"));
    if (members.has("instructions") && !instructions) {
      problem(members.get("instructions")!.start, "the digest of the instructions does not fit their text");
    }
    const serverInfo = this.#selfDescription(members.get("serverInfo"));
    if (members.has("serverInfo") && !serverInfo) {
      problem(members.get("serverInfo")!.start, "the digest of the server info does not fit its definition");
    }
    const resources = listIn(memberValue("resources"));
    if (!resources) problem(members.get("resources")!.start, "the digest of the resources does not fit their digests");
    const rest = { instructions, serverInfo, resources: resources ?? NO_RESOURCES };
    const whole = digestOfSurface({ ...entries, ...rest });
    if (memberValue("surface") !== whole && isWhole) {
      // Entries were added or removed by hand: which ones is unknown, so none counts.
      const place = members.get("surface")?.start ?? start;
      problem(place, `the digest of the surface does not fit; approve it again: goblin lock approve ${id}`);
      return { server: undefined, end };
    }
    const source = sourceIn(memberValue("source"));
    return { server: { source, digest: whole, ...rest, ...entries }, end };
  }

  #selfDescription(place: Place | undefined): LockedText | undefined {
    const span = place && memberSpan(this.#text, place.start, "definition");
    if (!span) return undefined;
    const definition = this.#text.slice(span.start, span.end);
    if (depthOf(definition) > MAX_DEPTH || !readSelfDescription(definition)) return undefined;
    const text = canonical(definition);
    const digest = digestOf(text);
    return recordOf(this.#value(place))["digest"] === digest ? { digest, text } : undefined;
  }

  #value(place: Place | undefined): unknown {
    return place && JSON.parse(this.#text.slice(place.start, place.end));
  }

  *#entries(kind: SurfaceKind, start: number, problem: Tell): Sliced<{ entries: Entries; end: number }> {
    const text = this.#text;
    const entries = new Map<string, LockedEntry>();
    let at = firstMember(text, start);
    let cost = 0;
    for (let member = memberAt(text, at); member; member = memberAt(text, at)) {
      const { key: name, start: from } = member;
      const end = skipValue(text, from);
      const entry = this.#entry(kind, name, { start: from, end });
      if (typeof entry === "string") problem(from, `${kind.slice(0, -1)} ${JSON.stringify(name)}: ${entry}`);
      else entries.set(name, entry);
      at = memberAfter(text, end);
      cost += 16 + ((end - from) >> 4);
      if (cost < MAX_AT_ONCE) continue;
      yield cost;
      cost = 0;
    }
    return { entries, end: at < 0 ? skipValue(text, start) : at + 1 };
  }

  #entry(kind: SurfaceKind, name: string, place: Place): LockedEntry | string {
    const written = this.#value(place);
    const span = memberSpan(this.#text, place.start, "definition");
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

type Entries = ReadonlyMap<string, LockedEntry>;
const NONE: Entries = new Map();
/** The cost of entries between two yields. */
const MAX_AT_ONCE = 500;

const SERVER_KEYS: ReadonlySet<string> = new Set([
  "source",
  "surface",
  "instructions",
  "serverInfo",
  "resources",
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

const NO_RESOURCES: LockedList = { count: 0, digest: digestOf("") };

/** Undefined: the digest does not fit. */
function listIn(value: unknown): LockedList | undefined {
  const { count, digest, digests } = recordOf(value);
  const list: LockedList = {
    count: typeof count === "number" ? count : 0,
    digest: typeof digest === "string" ? digest : NO_RESOURCES.digest,
  };
  if (digests === undefined) return list;
  if (!Array.isArray(digests) || !digests.every((one) => typeof one === "string")) return undefined;
  return digestOfList(digests) === digest ? { ...list, digests } : undefined;
}

/** Where the value of a member starts. What follows it is not looked at. */
function startOf(text: string, object: number, key: string): number | undefined {
  let at = firstMember(text, object);
  for (let member = memberAt(text, at); member; member = memberAt(text, at)) {
    if (member.key === key) return member.start;
    at = memberAfter(text, skipValue(text, member.start));
  }
  return undefined;
}

/** Returns a function that maps a position to its line. */
function linesOf(text: string): (position: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends.push(at);
  return (position) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/** A merge conflict is named where it is; else the position that the parser tells. */
function placeOfError(text: string): number {
  const conflict = /^(?:<{7}|={7}|>{7})/m.exec(text);
  const position = /position (\d+)/.exec(wordsOf(text, undefined))?.[1];
  return conflict?.index ?? (position === undefined ? text.length : Number(position));
}

/** The words of the usual parser, which tells the position. */
function wordsOf(text: string, error: unknown): string {
  try {
    JSON.parse(text);
    return messageOf(error);
  } catch (known) {
    return messageOf(known);
  }
}
