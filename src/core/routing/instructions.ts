/**
 * The gateway's instructions to a client: one sentence about what is behind it, then each server's
 * own instructions under its name.
 *
 * Invariants: a server's text changes only where it must. Its headings move down, so that no line
 * can imitate another server's section. Its own tools get the names that are valid here, but only
 * where a tool is certainly meant: whole words that are exactly the name of a tool; an ordinary
 * word only in backticks.
 */

import type { PeerInfo } from "../../mcp/peers/peer.ts";
import type { NamedList } from "../../upstream/catalog/named.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import type { ServerInfo } from "../../upstream/servers/servers.ts";

export type Behind = Pick<Snapshot, "servers" | "tools" | "exposure" | "local">;

const BREAK = "\\n\\r\\v\\f\\u0085\\u2028\\u2029";
const HEADING = new RegExp(`(^|[${BREAK}])([ \\t]*#+)(?![\\d#])`, "g");
const UNDERLINE = new RegExp(`(\\S[ \\t]*(?:\\r\\n|[${BREAK}])[ \\t]*)(=+|-+)(?=[ \\t]*(?:$|[${BREAK}]))`, "g");
const FENCE = new RegExp(`(?:^|[${BREAK}])[ \\t]*(\`\`\`|~~~)`, "g");
/** A word that is no part of a path, a URL, an option or a longer name. */
const WORD = /(?<![\w./\\:@#$%&=?+~-])[A-Za-z0-9_][\w.-]*/g;
const GOES_ON = /^(?:[/\\@=+~]|:\S)/;
/** A word of any language: no separator, digit or capital inside. */
const ORDINARY = /^[A-Za-z]?[a-z]*$|^[A-Z]+$/;
/** The most servers that the first sentence names, and the most characters that new names add. */
const MAX_NAMED = 100;
const MAX_ADDED = 16 * 1024;

/** Returns the text, or undefined if there is nothing to say. */
export function instructionsOf(infos: readonly ServerInfo[], behind: Behind): string | undefined {
  const sections = infos.flatMap(({ id, info }) => (info ? sectionOf(id, info, behind.tools) : []));
  const text = [...overview(behind), ...sections].join("\n\n");
  return text === "" ? undefined : text;
}

function overview({ servers, exposure, local }: Behind): string[] {
  if (servers.length === 0) return [];
  const named = servers.slice(0, MAX_NAMED).map(({ id }) => id);
  const more = servers.length > MAX_NAMED ? ` and ${servers.length - MAX_NAMED} more` : "";
  const isSearched = !exposure.listsAll && local.some(({ value }) => value["name"] === "search_tools");
  const advice = isSearched ? " Tools that are not listed are found with `search_tools`." : "";
  return [`This gateway combines these MCP servers: ${named.join(", ")}${more}.${advice}`];
}

interface Section {
  readonly tools: NamedList;
  readonly text: string;
}

const sections = new WeakMap<PeerInfo, Section>();

/** Returns a server's instructions under its name. The length was bounded on arrival. */
function sectionOf(id: string, info: PeerInfo, tools: NamedList): string[] {
  if (!info.instructions) return [];
  let section = sections.get(info);
  if (section?.tools !== tools) {
    section = { tools, text: outlined(withNames(info.instructions.trim(), namesOf(id, tools))) };
    sections.set(info, section);
  }
  return [`## ${id}\n\n${section.text}`];
}

/** Moves headings down two levels and closes open code blocks. */
function outlined(instructions: string): string {
  const text = instructions.replace(HEADING, "$1$2##").replace(UNDERLINE, "$1\\$2");
  const fences = [...text.matchAll(FENCE)];
  return fences.length % 2 === 1 ? `${text}\n${fences.at(-1)![1]}` : text;
}

function withNames(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text;
  let added = 0;
  return text.replace(WORD, (word: string, at: number) => {
    const name = withoutEnd(word);
    const exposed = names.get(name);
    if (exposed === undefined || added > MAX_ADDED) return word;
    const rest = text.slice(at + name.length, at + name.length + 2);
    const isQuoted = text[at - 1] === "`" && (rest.startsWith("`") || rest.startsWith("("));
    if (GOES_ON.test(rest) || (!isQuoted && ORDINARY.test(name))) return word;
    added += exposed.length - name.length;
    return exposed + word.slice(name.length);
  });
}

/** Drops dots and hyphens at the end. A pattern would look at each run of them many times. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (word[end - 1] === "." || word[end - 1] === "-") end--;
  return word.slice(0, end);
}

const namesByServer = new WeakMap<NamedList, ReadonlyMap<string, ReadonlyMap<string, string>>>();
const NONE: ReadonlyMap<string, string> = new Map();

/** Returns the names of a server's tools that are other names here. */
function namesOf(serverId: string, tools: NamedList): ReadonlyMap<string, string> {
  let byServer = namesByServer.get(tools);
  if (!byServer) {
    const found = new Map<string, Map<string, string>>();
    for (const { serverId: id, name, exposed } of tools.entries) {
      if (name === exposed) continue;
      const names = found.get(id);
      if (names) names.set(name, exposed);
      else found.set(id, new Map([[name, exposed]]));
    }
    byServer = found;
    namesByServer.set(tools, byServer);
  }
  return byServer.get(serverId) ?? NONE;
}
