/**
 * What is known about clients, by the name that they give themselves: whether they search their
 * tools themselves, how many tools they take, and how long names may be.
 *
 * An entry of the config replaces the one here. A client that is in neither has no limits.
 */
import type { ClientsConfig } from "../../config/schema/offerings.ts";
import { matchesGlob } from "../../lib/text/glob.ts";
import type { ClientKind } from "../../mcp/protocol/principal.ts";

/** The key is a pattern for `clientInfo.name`, in lower case. */
export const knownClients: Readonly<Record<string, ClientKind>> = {
  // Defers the definitions of MCP tools and loads what its own tool search finds.
  "claude-code": { searchesTools: true },
  // Sends the first 40 tools of all servers to the model. Server and tool together: 60 characters.
  "cursor-vscode": { maxTools: 40, maxNameLength: 53 },
  // "A limit of 100 total tools" for Cascade.
  "windsurf-client": { maxTools: 100 },
  "antigravity*": { maxTools: 100 },
  // The limit of the model's API.
  "openai-mcp*": { maxTools: 128, maxNameLength: 64 },
  // Cuts longer names in the middle, where they may become equal.
  "gemini-cli-mcp-client": { maxNameLength: 63 },
};

/** Returns the known kind of a client; undefined if it is unknown. */
export function clientKindOf(name: string, configured: ClientsConfig): ClientKind | undefined {
  const lower = name.toLowerCase();
  const known = found(knownClients, lower);
  const own = found(configured, lower);
  return own ? { ...known, ...present(own) } : known;
}

/** An exact name goes before a pattern. */
function found<Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  const all = Object.entries(entries).map(([key, entry]) => ({ key: key.toLowerCase(), entry }));
  return (all.find(({ key }) => key === name) ?? all.find(({ key }) => matchesGlob(key, name)))?.entry;
}

function present(kind: ClientKind): ClientKind {
  return Object.fromEntries(Object.entries(kind).filter(([, value]) => value !== undefined));
}
