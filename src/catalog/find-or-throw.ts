/**
 * The errors for names and URIs that nobody has, or that several have. The same ones whether
 * something is called, read or described, so that a client can tell by the code.
 *
 * What must always hold: a name under a configured server's prefix is that server's. If the server
 * is not there to ask, the error says so. A server that is disabled is as if it had nothing.
 */
import { type ErrorCode, GoblinError } from "../protocol/errors.ts";
import type { NamedEntry, NamedList } from "./named.ts";
import type { FoundResource, ResourceIndex, ResourceResolution } from "./resources/index.ts";
import type { Standing } from "./standing.ts";

const SHOWN = 200;
/** When to ask again where nobody can know. */
const RETRY_MS = 1000;

const kinds = {
  tool: { list: "tools", code: "TOOL_NOT_FOUND", title: "Tool" },
  prompt: { list: "prompts", code: "PROMPT-001", title: "Prompt" },
} as const satisfies Record<string, { list: string; code: ErrorCode; title: string }>;

/** What a name is looked up in. */
export interface Names {
  readonly tools: NamedList;
  readonly prompts: NamedList;
  readonly resources: ResourceIndex;
  standing(serverId: string): Standing;
}

/** The entry of that name; an error if there is none, or if several servers have it. */
export function foundName(kind: keyof typeof kinds, names: Names, name: string): NamedEntry {
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

/** What the URI was resolved to; an error if that is nothing, or several things. */
export function foundUri(resolution: ResourceResolution, names: Names, uri: string): FoundResource {
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

/** An error unless what these servers have is known. */
export function assertThere(names: Pick<Names, "standing">, serverIds: readonly string[]): void {
  assertStarted(names, serverIds);
  for (const serverId of serverIds) {
    const standing = names.standing(serverId);
    if (standing.kind !== "down") continue;
    const { reason, retryAt } = standing;
    const retryAfterMs = retryAt === undefined ? RETRY_MS : Math.max(0, retryAt - Date.now());
    const data = { serverId, reason, retryAfterMs };
    throw new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is unavailable: ${reason}`, { data });
  }
}

function assertStarted(names: Pick<Names, "standing">, serverIds: readonly string[]): void {
  const awaits = serverIds.filter((id) => names.standing(id).kind === "starting");
  const serverId = awaits[0];
  if (serverId === undefined) return;
  const data = { serverId, reason: "starting", retryAfterMs: RETRY_MS };
  throw new GoblinError("BACKEND_UNAVAILABLE", `Server "${serverId}" is still starting`, { data, awaits });
}

/** A name from outside, short enough for a message. */
export function shown(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}
