/**
 * Scans definitions and instructions for what an attacker would write into them. Offline and
 * deterministic: it knows the text, and the names that were approved of other servers.
 *
 * A hard finding is no accident; real servers have none (the corpus of the tests). A soft one is a
 * reason to look.
 */
import { isRecord } from "../../../lib/structures/record.ts";
import type { Finding, Scan } from "../drift.ts";
import type { LockedServers } from "../lock-file.ts";
import { hiddenCharacters, imitatedLetters, skeletonOf } from "./characters.ts";
import { encodedPayloads, instructions } from "./phrases.ts";

/** The most findings of one text that are reported. */
const MAX_FINDINGS = 20;

/** The names of one server, and what its tools are called by clients. */
interface Others {
  /** Names of other servers' tools as they look, to how they are written. */
  readonly looks: ReadonlyMap<string, { readonly server: string; readonly name: string }>;
  /** The exposed names of other servers' tools. */
  readonly exposed: ReadonlyMap<string, string>;
  readonly own: ReadonlySet<string>;
}

/** `servers`: what was approved. */
export function createScan(servers: LockedServers, serverId: string): Scan {
  const others = othersOf(servers, serverId);
  return (kind, text) => {
    const strings = kind === "instructions" ? [{ path: "", text, isName: false }] : stringsIn(text);
    const found = strings.flatMap((one) => scanned(one, others).map((finding) => ({ ...finding, path: one.path })));
    return found.slice(0, MAX_FINDINGS);
  };
}

interface Text {
  readonly path: string;
  readonly text: string;
  /** Whether it is an identifier: a name, or the key of a parameter. */
  readonly isName: boolean;
}

function scanned({ path, text, isName }: Text, others: Others): Omit<Finding, "path">[] {
  const found = [...hiddenCharacters(text), ...imitatedLetters(text, isName)];
  if (isName) return path === "name" ? [...found, ...shadowing(text, others)] : found;
  return [...found, ...instructions(text), ...encodedPayloads(text), ...aboutOthers(text, others)];
}

/** A name that is, or looks like, the name of another server's tool. */
function shadowing(name: string, { looks, exposed }: Others): Omit<Finding, "path">[] {
  const hard = (what: string): Omit<Finding, "path">[] => [{ rule: "shadowing", isHard: true, what }];
  const owner = exposed.get(name);
  if (owner !== undefined)
    return hard(`the name is that of a tool of server ${JSON.stringify(owner)}, with its prefix`);
  const like = looks.get(skeletonOf(name));
  if (!like || like.name === name || like.name.toLowerCase() === name.toLowerCase()) return [];
  return hard(`the name looks like ${JSON.stringify(like.name)} of server ${JSON.stringify(like.server)}`);
}

const ORDERS =
  /\b(?:instead of|before (?:using|calling|you (?:use|call))|whenever|every time|(?:do not|don't|never) (?:use|call)|must (?:also|first|always)|always (?:use|call|send|include|pass|add|set))\b/i;
/** It begins where a word does, so that a long word is read once. */
const MENTION = /(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+/g;

/** Orders about tools of other servers, by the names that only clients of this gateway know. */
function aboutOthers(text: string, { exposed, own }: Others): Omit<Finding, "path">[] {
  if (exposed.size === 0) return [];
  for (const [name] of text.matchAll(MENTION)) {
    const owner = exposed.get(name);
    if (owner === undefined || own.has(name)) continue;
    const isHard = ORDERS.test(text);
    const what = `it ${isHard ? "gives orders about" : "mentions"} ${JSON.stringify(name)} of server ${JSON.stringify(owner)}`;
    return [{ rule: "cross-server", isHard, what }];
  }
  return [];
}

function othersOf(servers: LockedServers, serverId: string): Others {
  const looks = new Map<string, { readonly server: string; readonly name: string }>();
  const exposed = new Map<string, string>();
  for (const [server, { tools }] of servers) {
    if (server === serverId) continue;
    for (const name of tools.keys()) {
      looks.set(skeletonOf(name), { server, name });
      exposed.set(`${server}_${name}`, server);
    }
  }
  return { looks, exposed, own: new Set(servers.get(serverId)?.tools.keys()) };
}

const LITERAL = /"(?:[^"\\]|\\.)*"/g;
/** Members whose values are identifiers. */
const NAMES = new Set(["name", "uriTemplate"]);

/** Every string of a definition, also in duplicate members, which a parse would drop. */
function stringsIn(text: string): Text[] {
  const value: unknown = JSON.parse(text);
  const strings: Text[] = [];
  walk(value, "", strings);
  const seen = new Set(strings.map((one) => one.text));
  for (const [literal] of text.matchAll(LITERAL)) {
    const hidden = JSON.parse(literal) as string;
    if (seen.has(hidden)) continue;
    seen.add(hidden);
    strings.push({ path: "(a duplicate member)", text: hidden, isName: false });
  }
  return strings;
}

function walk(value: unknown, path: string, strings: Text[]): void {
  if (typeof value === "string") strings.push({ path, text: value, isName: NAMES.has(path) });
  else if (Array.isArray(value)) value.forEach((one, i) => void walk(one, `${path}.${i}`, strings));
  else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const at = path === "" ? key : `${path}.${key}`;
      strings.push({ path: at, text: key, isName: true });
      walk(inner, at, strings);
    }
  }
}
