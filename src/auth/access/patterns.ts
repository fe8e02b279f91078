/**
 * Matches the entries that a profile names: globs on the servers' own names, and what a tool says
 * about itself.
 *
 * Names that clients see play no part: they may move from one server to another with the config.
 */

import { matchesGlob } from "../../lib/text/glob.ts";
import type { VisibleEntry } from "../../mcp/protocol/principal.ts";
import { hasAnnotation, isAnnotation } from "../../policy/annotations.ts";

export interface EntryPatterns {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Deny beats allow. */
export function isAllowed(entry: VisibleEntry, { allow, deny }: EntryPatterns): boolean {
  if (deny.some((pattern) => matchesEntry(pattern, entry))) return false;
  return allow.some((pattern) => matchesEntry(pattern, entry));
}

/** A pattern with a slash is for `server/name`, except for URIs. */
function matchesEntry(pattern: string, { serverId, kind, name, definition }: VisibleEntry): boolean {
  if (kind === "tool" && isAnnotation(pattern)) return hasAnnotation(definition?.["annotations"], pattern);
  const isUri = kind === "resource" || kind === "template";
  return matchesGlob(pattern, !isUri && pattern.includes("/") ? `${serverId}/${name}` : name);
}
