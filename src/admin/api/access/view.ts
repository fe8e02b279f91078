/**
 * What a principal sees of everything that the gateway offers, and why.
 *
 * Invariant: a long catalog is examined in slices, so that nobody's call waits for the question.
 */

import { inSlices, mapped } from "../../../lib/timing/slices.ts";
import { askedPrincipal } from "../../../policy/asked-principal.ts";
import type { Decision, Scope } from "../../../policy/scope.ts";
import type { ApiRows } from "../api-rows.ts";
import { entriesOf, type FoundEntry } from "../explain/find-entry.ts";
import { itemOf, SeenBy } from "../explain/seen.ts";
import type { AdminParts } from "../parts.ts";
import type { PrincipalView, ViewedEntry, ViewRequest } from "./schema.ts";

/** About the cost of a decision, in microseconds. */
const ENTRY_COST = 10;

export async function viewAs(request: ViewRequest, parts: AdminParts, rows: ApiRows): Promise<PrincipalView> {
  const by = new SeenBy(askedPrincipal({ ...request, principal: request.as }), request.profile, parts);
  const scope = by.policy?.scopeOf(by.principal);
  const entries = entriesOf(rows);
  const items = await inSlices(
    mapped(
      entries,
      (entry) => viewed(entry, by, scope),
      () => ENTRY_COST,
    ),
  );
  const seen = items.filter(({ visible }) => visible);
  const profile = by.place?.visibility?.profile ?? null;
  return {
    endpoint: request.profile === undefined ? "/mcp" : `/mcp/p/${encodeURIComponent(request.profile)}`,
    exists: by.place !== undefined,
    why: by.place ? limitsOf(profile, scope) : by.absence,
    profile,
    rules: scope?.rules.map(({ name }) => name) ?? [],
    counts: {
      visible: seen.length,
      hidden: items.length - seen.length,
      asked: seen.filter(({ effect }) => effect === "ask").length,
    },
    items,
  };
}

function viewed(entry: FoundEntry, by: SeenBy, scope: Scope | undefined): ViewedEntry {
  const { kind, name, serverId } = entry;
  const item = itemOf(entry);
  const decision = scope?.evaluate(item);
  const decidedBy = decision?.matched.find(({ effect }) => effect === "deny");
  const { isVisible, isListed, why } = by.see(entry, { isVisible: decision?.isVisible ?? true, decidedBy });
  const effect = isVisible ? effectOf(decision) : "deny";
  const rules = scope?.matching(item).map((rule) => rule.name) ?? [];
  return { kind, name, serverId, visible: isVisible, listed: isListed, effect, rules, why };
}

function effectOf(decision: Decision | undefined): ViewedEntry["effect"] {
  if (!decision || decision.isPlain) return "allow";
  if (decision.denies.length > 0 || decision.allows !== undefined) return "depends";
  if (decision.asks.length === 0) return "allow";
  return decision.asks.every(({ condition }) => !condition) && decision.unasked.length === 0 ? "ask" : "depends";
}

function limitsOf(profile: string | null, scope: Scope | undefined): string {
  const count = scope?.rules.length ?? 0;
  const limits = [
    profile === null ? "" : `the profile ${profile.split(",").join(" and ")}`,
    count === 0 ? "" : count === 1 ? "one rule" : `${count} rules`,
  ].filter((part) => part !== "");
  return limits.length === 0 ? "nothing limits this principal" : `limited by ${limits.join(" and ")}`;
}
