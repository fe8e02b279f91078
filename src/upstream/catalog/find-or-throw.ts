/**
 * Finds a name or URI in the catalog, or throws the error for an unknown or ambiguous one. Calls,
 * reads and descriptions share these errors, so clients can rely on the code.
 *
 * Invariant: a name under a configured server's prefix belongs to that server. If its lists are
 * unknown, the error says so. A disabled server counts as empty.
 */
import { type ErrorCode, GoblinError } from "../../mcp/protocol/errors.ts";
import type { NamedEntry, NamedList } from "./named.ts";
import type { FoundResource, ResourceIndex, ResourceResolution } from "./resources/resource-index.ts";
import type { Standing } from "./standing.ts";

const SHOWN = 200;
/** The advised retry delay if the server's next attempt is unknown. */
const RETRY_MS = 1000;

const kinds = {
  tool: { list: "tools", code: "TOOL_NOT_FOUND", title: "Tool" },
  prompt: { list: "prompts", code: "PROMPT_NOT_FOUND", title: "Prompt" },
} as const satisfies Record<string, { list: string; code: ErrorCode; title: string }>;

/** The lists to look a name up in. */
export interface Names {
  readonly tools: NamedList;
  readonly prompts: NamedList;
  readonly resources: ResourceIndex;
  standing(serverId: string): Standing;
}

/** Returns the entry of that name. Throws if no server has it, or if several do. */
export function namedOrThrow(kind: keyof typeof kinds, names: Names, name: string): NamedEntry {
  const { list, code, title } = kinds[kind];
  const entry = names[list].find(name);
  if (entry) return entry;
  assertThere(names, names[list].claimants(name));
  const owners = names[list].owners(name);
  if (owners.length < 2) throw new GoblinError(code, `${title} not found: ${shown(name)}`);
  const candidates = owners.map(({ exposed }) => exposed).sort();
  const message = `${title} not found: ${shown(name)} is ambiguous (${candidates.join(", ")})`;
  throw new GoblinError(code, message, { data: { candidates } });
}

/** Returns the resource behind a resolution. Throws if it is unknown or ambiguous. */
export function resolvedOrThrow(resolution: ResourceResolution, names: Names, uri: string): FoundResource {
  if (resolution.kind === "found") return resolution;
  if (resolution.kind === "unknown") {
    const claimants = names.resources.claimants(uri);
    if (claimants.length > 0) assertThere(names, claimants);
    else assertStarted(names, names.resources.mayHave(uri));
    throw new GoblinError("RESOURCE_NOT_FOUND", `Resource not found: ${shown(uri)}`, { data: { uri: shown(uri) } });
  }
  const { candidates } = resolution;
  const message = `Resource URI is ambiguous: ${shown(uri)} could be ${candidates.join(" or ")}`;
  throw new GoblinError("AMBIGUOUS", message, { data: { uri: shown(uri), candidates } });
}

/** Throws unless the lists of all these servers are known. */
export function assertThere(names: Pick<Names, "standing">, serverIds: readonly string[]): void {
  assertStarted(names, serverIds);
  for (const serverId of serverIds) {
    const standing = names.standing(serverId);
    if (standing.kind === "needs-login") {
      const data = { serverId, remedy: `goblin login ${serverId}` };
      throw new GoblinError("LOGIN_REQUIRED", standing.reason, { data });
    }
    if (standing.kind !== "down" && standing.kind !== "invalid") continue;
    const { reason } = standing;
    // A retry cannot help a server that only an edit of the config brings back.
    const retry = standing.kind === "down" && { retryAfterMs: retryDelay(standing.retryAt) };
    const data = { serverId, reason, ...retry };
    throw new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is unavailable: ${reason}`, { data });
  }
}

function retryDelay(retryAt: number | undefined): number {
  return retryAt === undefined ? RETRY_MS : Math.max(0, retryAt - Date.now());
}

/** Throws, so that the request waits, if one of these servers is starting. */
export function assertStarted(names: Pick<Names, "standing">, serverIds: readonly string[]): void {
  const awaits = serverIds.filter((id) => names.standing(id).kind === "starting");
  const serverId = awaits[0];
  if (serverId === undefined) return;
  const data = { serverId, reason: "starting", retryAfterMs: RETRY_MS };
  throw new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is still starting`, { data, awaits });
}

/** Shortens a client's text for use in a message. */
export function shown(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}
