/**
 * Tells whether a rule concerns a principal.
 *
 * Invariant: it uses only what the gateway established (`src/auth/identity`), never a display name
 * or what a client says about itself. A list that the principal has nothing for does not match.
 */

import { matchesGlob } from "../lib/text/glob.ts";
import type { Principal } from "../mcp/protocol/principal.ts";
import type { RuleConfig, Who } from "./rule.ts";

/** What precedes the name in the id of a named token. */
const NAMED = "client:";
/** Separates issuer and subject in a principal's id. */
const SEPARATOR = "\u001f";

export function concerns(who: RuleConfig["who"], principal: Principal): boolean {
  if (!who) return true;
  if (who.not && hasLists(who.not) && isOne(who.not, principal)) return false;
  return isOne(who, principal);
}

/** The principal as rules name it. */
export function writtenName({ id }: Pick<Principal, "id">): string {
  return id.startsWith(NAMED) ? id.slice(NAMED.length) : id.replace(SEPARATOR, " ");
}

/** The id of the principal that a rule names so. The opposite of `writtenName`. */
export function principalId(written: string): string {
  if (written === "" || written.startsWith("token:")) return written;
  return written.includes(" ") ? written.replace(" ", SEPARATOR) : NAMED + written;
}

function hasLists({ principals, groups, clients, scopes }: Who): boolean {
  return (principals ?? groups ?? clients ?? scopes) !== undefined;
}

function isOne({ principals, groups, clients, scopes }: Who, principal: Principal): boolean {
  return (
    matches(principals, [writtenName(principal)]) &&
    matches(groups, principal.groups) &&
    matches(clients, clientsOf(principal)) &&
    matches(scopes, [...(principal.scopes ?? [])])
  );
}

/** A named token and an OAuth client may have the same name; a prefix says which one is meant. */
const KIND = /^(?:token|oauth):/;

/** For a rule that lets clients do more: a name of `gateway.auth.clients` means its token alone. */
export function withTokensMeant(patterns: readonly string[], tokens: ReadonlySet<string>): string[] {
  return patterns.map((pattern) => (tokens.has(pattern) ? `token:${pattern}` : pattern));
}

function clientsOf({ id, client }: Principal): readonly string[] {
  const named = id.startsWith(NAMED) ? namesOf("token", id.slice(NAMED.length)) : [];
  return client === undefined ? named : [...namesOf("oauth", client), ...named];
}

/** A client cannot pass for one of another kind by what it calls itself. */
function namesOf(kind: "token" | "oauth", name: string): readonly string[] {
  return KIND.test(name) ? [`${kind}:${name}`] : [name, `${kind}:${name}`];
}

function matches(patterns: readonly string[] | undefined, values: readonly string[]): boolean {
  if (!patterns) return true;
  return patterns.some((pattern) => values.some((value) => matchesGlob(pattern, value)));
}
