/**
 * The errors for names and URIs that nobody has, or that several have. The same ones whether
 * something is called, read or described, so that a client can tell by the code.
 */
import { type ErrorCode, GoblinError } from "../protocol/errors.ts";
import type { NamedEntry, NamedList } from "./named.ts";
import type { FoundResource, ResourceResolution } from "./resources/index.ts";

const SHOWN = 200;

const kinds = {
  tool: { code: "TOOL_NOT_FOUND", title: "Tool" },
  prompt: { code: "PROMPT-001", title: "Prompt" },
} as const satisfies Record<string, { code: ErrorCode; title: string }>;

/** The entry of that name; an error if there is none, or if several servers have it. */
export function foundName(kind: keyof typeof kinds, list: NamedList, name: string): NamedEntry {
  const entry = list.find(name);
  if (entry) return entry;
  const { code, title } = kinds[kind];
  const owners = list.owners(name);
  if (owners.length < 2) throw new GoblinError(code, `${title} not found: ${shown(name)}`);
  const candidates = owners.map(({ exposed }) => exposed).sort();
  const message = `${title} not found: ${shown(name)} is ambiguous (${candidates.join(", ")})`;
  throw new GoblinError(code, message, { data: { candidates } });
}

/** What the URI was resolved to; an error if that is nothing, or several things. */
export function foundUri(resolution: ResourceResolution, uri: string): FoundResource {
  if (resolution.kind === "found") return resolution;
  if (resolution.kind === "unknown") {
    throw new GoblinError("RESOURCE_NOT_FOUND", `Resource not found: ${shown(uri)}`, { data: { uri: shown(uri) } });
  }
  const { candidates } = resolution;
  const message = `Resource URI is ambiguous: ${shown(uri)} could be ${candidates.join(" or ")}`;
  throw new GoblinError("AMBIGUOUS", message, { data: { uri: shown(uri), candidates } });
}

/** A name from outside, short enough for a message. */
export function shown(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}
