/**
 * Matches the entries that a profile names: globs on the servers' own names, and what a tool says
 * about itself.
 *
 * Names that clients see play no part: they may move from one server to another with the config.
 */
import type { VisibleEntry } from "../protocol/principal.ts";
import { recordOf } from "../structures/record.ts";
import { matchesGlob } from "../text/glob.ts";

/** What annotations can say of a tool. A tool that says nothing may do anything. */
const annotated: Readonly<Record<string, (hints: Readonly<Record<string, unknown>>) => boolean>> = {
  "@readOnly": ({ readOnlyHint }) => readOnlyHint === true,
  "@destructive": ({ readOnlyHint, destructiveHint }) => readOnlyHint !== true && destructiveHint !== false,
  "@idempotent": ({ readOnlyHint, idempotentHint }) => readOnlyHint === true || idempotentHint === true,
  "@openWorld": ({ openWorldHint }) => openWorldHint !== false,
};

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
  const says = kind === "tool" && Object.hasOwn(annotated, pattern) ? annotated[pattern] : undefined;
  if (says) return says(recordOf(definition?.["annotations"]));
  const isUri = kind === "resource" || kind === "template";
  return matchesGlob(pattern, !isUri && pattern.includes("/") ? `${serverId}/${name}` : name);
}
