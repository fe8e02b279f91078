/**
 * Reads the servers' entries of a config.
 *
 * Invariant: a bad entry hurts only itself. Its server keeps its id and its prefix, so that no
 * other server gets its names, and carries the problems instead of a connection. A bad id concerns
 * the whole file: there is no server that the problem could belong to.
 */
import type { Node } from "jsonc-parser";
import { isRecord } from "../../lib/structures/record.ts";
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";
import { NAME_TEXT, type ServerConfig, serverEntrySchema } from "../schema/server.ts";
import { propertiesOf } from "./document.ts";
import { defaultPrefix, type NormaliseContext, normaliseServer } from "./normalise.ts";

type Section = "mcpServers" | "servers";
type EntryPath = readonly [section: Section, id: string];

/** Returns whether the path leads to a server's entry or into it. */
export function isInEntry(path: KeyPath): boolean {
  return path.length > 1 && (path[0] === "mcpServers" || path[0] === "servers");
}

/** Reports ids that no server may have. Call it first: it knows best what a duplicate key is. */
export function checkIds(root: Node, report: Report): void {
  const seen = new Map<string, string>();
  for (const [path, keyNode] of serverPaths(root)) {
    const id = path[1];
    const folded = id.toLowerCase();
    const message = problemOfId(id, seen.get(folded));
    if (message !== undefined) report.error(path, message, { offset: keyNode.offset, ofFile: true });
    seen.set(folded, id);
  }
}

/** `other`: the id before it that is the same but for its case. */
function problemOfId(id: string, other: string | undefined): string | undefined {
  if (id.trim() === "") return "a server's id must not be empty";
  if (/^\s|\s$|[\p{Cc}]/u.test(id)) return "an id must not begin or end with a space or contain control characters";
  if (id.length > 128) return "an id must be at most 128 characters long";
  if (id === "__proto__") return "this key is not allowed";
  if (id.toLowerCase() === "goblin") return 'the id "goblin" is reserved for the gateway itself';
  if (other === undefined) return undefined;
  return other === id ? "two servers have this id" : `differs from the id "${other}" only in case`;
}

/**
 * Returns the servers in file order. Each entry is parsed separately, so that one bad entry does
 * not hide problems in another.
 */
export function readServers(root: Node, value: unknown, context: NormaliseContext): ServerConfig[] {
  return serverPaths(root).map(([path]) => {
    const [section, id] = path;
    const written = isRecord(value) && isRecord(value[section]) ? value[section][id] : undefined;
    const parsed = serverEntrySchema.safeParse(written);
    const server = parsed.success ? normaliseServer({ id, entry: parsed.data, path }, context) : undefined;
    const problems = context.report.errorsAt(path);
    if (server && problems.length === 0) return server;
    return { ...unusable(id, isRecord(written) ? written : {}, context.folder), problems };
  });
}

/** Returns a server without a connection: its id, and what is valid in its entry. */
function unusable(id: string, entry: Readonly<Record<string, unknown>>, folder: string): ServerConfig {
  const { prefix, url, serverUrl, enabled, disabled } = entry;
  const isRemote = (url ?? serverUrl) !== undefined && entry["command"] === undefined;
  const isPrefix = typeof prefix === "string" && prefix.length <= 64 && NAME_TEXT.test(prefix);
  return {
    id,
    transport: isRemote
      ? { kind: "auto", url: "", headers: {} }
      : { kind: "stdio", command: "", args: [], env: {}, cwd: folder },
    enabled: enabled !== false && disabled !== true,
    prefix: isPrefix ? prefix : defaultPrefix(id),
    share: "auto",
    tools: { allow: ["*"], deny: [], overrides: {} },
  };
}

/** Lists the servers in file order; JavaScript objects move integer-like keys to the front. */
function serverPaths(root: Node): [path: EntryPath, keyNode: Node][] {
  const sections = propertiesOf(root);
  return (["mcpServers", "servers"] as const).flatMap((section) =>
    sections
      .filter(([key]) => key === section)
      .flatMap(([, , servers]) => propertiesOf(servers))
      .map(([id, keyNode]): [EntryPath, Node] => [[section, id], keyNode]),
  );
}
