/**
 * Finds the template that a URI belongs to.
 *
 * Templates are filed under their leading literal, so a look-up tries only the ones that can match.
 *
 * Invariants: of several matches, the one with the most literal characters wins, then the first
 * one. The returned URI is the requested one without the gateway's prefix.
 */

import { matchTemplate } from "../../../lib/uri-template/match.ts";
import { MAX_URI_LENGTH, type MatchBudget } from "../../../lib/uri-template/match-budget.ts";
import type { UriTemplate } from "../../../lib/uri-template/template.ts";
import { canonicalUri } from "../../../lib/uri-template/tokens.ts";

export interface FiledTemplate<Owner> {
  /** The gateway's prefix in front of the server's template. */
  readonly head: string;
  readonly template: UriTemplate;
  readonly owner: Owner;
}

export interface TemplateHit<Owner> {
  readonly owner: Owner;
  /** The server's own URI. */
  readonly uri: string;
}

export interface TemplateFinder<Owner> {
  /** Returns undefined also if the budget runs out. */
  find(uri: string, budget: MatchBudget): TemplateHit<Owner> | undefined;
}

interface Ranked<Owner> extends FiledTemplate<Owner> {
  readonly rank: number;
}

export function createTemplateFinder<Owner>(templates: readonly FiledTemplate<Owner>[]): TemplateFinder<Owner> {
  const weight = (filed: FiledTemplate<Owner>) => filed.head.length + filed.template.literalCharacters;
  const ranked = [...templates].sort((a, b) => weight(b) - weight(a)).map((filed, rank) => ({ ...filed, rank }));
  const byLiteral = new Map<string, Ranked<Owner>[]>();
  for (const filed of ranked) {
    const literal = canonicalUri(filed.head) + filed.template.literalPrefix;
    const group = byLiteral.get(literal);
    if (group === undefined) byLiteral.set(literal, [filed]);
    else group.push(filed);
  }
  const lengths = [...new Set([...byLiteral.keys()].map((literal) => literal.length))];
  return {
    find: (uri, budget) =>
      ranked.length === 0 || uri.length > MAX_URI_LENGTH ? undefined : findIn({ byLiteral, lengths }, uri, budget),
  };
}

function findIn<Owner>(
  { byLiteral, lengths }: { byLiteral: ReadonlyMap<string, readonly Ranked<Owner>[]>; lengths: readonly number[] },
  uri: string,
  budget: MatchBudget,
): TemplateHit<Owner> | undefined {
  const canonical = canonicalUri(uri);
  const candidates: Ranked<Owner>[] = [];
  for (const length of lengths) {
    if (!budget.spend(1)) return undefined;
    if (length > canonical.length) continue;
    for (const filed of byLiteral.get(canonical.slice(0, length)) ?? []) candidates.push(filed);
  }
  if (!budget.spend(candidates.length)) return undefined;
  candidates.sort((a, b) => a.rank - b.rank);
  for (const { head, template, owner } of candidates) {
    if (!uri.startsWith(head)) continue;
    const original = uri.slice(head.length);
    if (matchTemplate(template, original, budget) !== undefined) return { owner, uri: original };
  }
  return undefined;
}
