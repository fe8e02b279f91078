/**
 * Matches the entries that a profile names: globs on the servers' own names, and what a tool says
 * about itself. Resources are matched in every form of their URI, as by rules.
 *
 * Names that clients see play no part: they may move from one server to another with the config.
 */

import { matchesGlob } from "../../lib/text/glob.ts";
import type { VisibleEntry } from "../../mcp/protocol/principal.ts";
import { hasAnnotation, isAnnotation } from "../../policy/annotations.ts";
import { UriPatterns } from "../../policy/uri-forms.ts";

export interface EntryPatterns {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

type IsAllowed = (entry: VisibleEntry) => boolean;

/** Deny beats allow. */
export function namesAllowed({ allow, deny }: EntryPatterns): IsAllowed {
  return (entry) => {
    if (deny.some((pattern) => matchesEntry(pattern, entry))) return false;
    return allow.some((pattern) => matchesEntry(pattern, entry));
  };
}

/** Deny beats allow. */
export function urisAllowed(patterns: EntryPatterns): IsAllowed {
  const allow = new UriPatterns(patterns.allow);
  const deny = new UriPatterns(patterns.deny);
  return ({ name }) => !deny.matchesAnyForm(name) && allow.matchesEveryForm(name);
}

/** A pattern with a slash is for `server/name`. */
function matchesEntry(pattern: string, { serverId, kind, name, definition }: VisibleEntry): boolean {
  if (kind === "tool" && isAnnotation(pattern)) return hasAnnotation(definition?.["annotations"], pattern);
  return matchesGlob(pattern, pattern.includes("/") ? `${serverId}/${name}` : name);
}
