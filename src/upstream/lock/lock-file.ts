/**
 * The lock file as text: the approved offers of each server. It is sorted and has one line for each
 * tool, prompt and template, so that it is good to review and to merge.
 *
 * Each entry has its definition as the server sent it, since a pinned definition must be served
 * from a fresh clone too, and its digests.
 */
import { oneLine } from "../../lib/json/json-text.ts";
import { mapped, type Sliced, textCost } from "../../lib/timing/slices.ts";
import { type Source, sourceKeys } from "./source.ts";
import { type LockedEntry, type Surface, surfaceKinds } from "./surface.ts";

export const LOCK_VERSION = 1;

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

/** Formats a lock file, in slices. */
export function* formatLock(servers: LockedServers): Sliced<string> {
  const sections: string[] = [];
  for (const [id, server] of sortedEntries(servers)) {
    sections.push(`    ${JSON.stringify(id)}: ${yield* serverText(server)}`);
  }
  const body = sections.length > 0 ? `{\n${sections.join(",\n")}\n  }` : "{}";
  return `{\n  "version": ${LOCK_VERSION},\n  "servers": ${body}\n}\n`;
}

function* serverText(server: LockedServer): Sliced<string> {
  const { source, digest, instructions, serverInfo, resources, ...entries } = server;
  const kinds: string[] = [];
  for (const kind of surfaceKinds) kinds.push(`"${kind}": ${yield* entriesText(entries[kind])}`);
  const members = [
    `"source": ${spaced(Object.fromEntries(sourceKeys.flatMap((key) => (source[key] ? [[key, source[key]]] : []))))}`,
    `"surface": ${JSON.stringify(digest)}`,
    ...(instructions ? [`"instructions": ${spaced({ digest: instructions.digest, text: instructions.text })}`] : []),
    ...(serverInfo
      ? [`"serverInfo": { "digest": ${JSON.stringify(serverInfo.digest)}, "definition": ${serverInfo.text} }`]
      : []),
    ...kinds,
    `"resources": ${spaced({ count: resources.count, digest: resources.digest, digests: resources.digests })}`,
  ];
  return `{\n      ${members.join(",\n      ")}\n    }`;
}

function* entriesText(entries: ReadonlyMap<string, LockedEntry>): Sliced<string> {
  if (entries.size === 0) return "{}";
  const lineOf = ([name, { definition, digest, input, output, hints }]: [string, LockedEntry]): string => {
    const facts = spaced({ digest, input, output, hints }).slice(0, -2);
    return `        ${JSON.stringify(name)}: ${facts}, "definition": ${oneLine(definition.text)} }`;
  };
  const lines = yield* mapped(sortedEntries(entries), lineOf, costOf);
  return `{\n${lines.join(",\n")}\n      }`;
}

function spaced(members: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return `{ ${given.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(", ")} }`;
}

function sortedEntries<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

function costOf([, { definition }]: readonly [string, LockedEntry]): number {
  return 4 * textCost(definition.text);
}
