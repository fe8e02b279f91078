/**
 * Says what the policy decides about one thing for one principal, and by which rules. The operator
 * asks (`goblin explain`, `goblin policy test`); clients never see it.
 */
import { GoblinError } from "../mcp/protocol/errors.ts";
import type { Principal } from "../mcp/protocol/principal.ts";
import { admit, evaluateRule, Refusal } from "./arguments/admit.ts";
import type { Policy, Rule } from "./policy.ts";
import type { Effect, Item } from "./rule.ts";

export interface ExplainQuery {
  readonly principal: Principal;
  readonly item: Item;
  /** The arguments of the call, as JSON. */
  readonly args?: string | undefined;
  /** The tool's input schema, if it is known. */
  readonly schema?: unknown;
}

export interface MatchedRule {
  readonly rule: Rule;
  /** Whether its condition holds; undefined if it has none, or it cannot be evaluated. */
  readonly holds?: boolean | undefined;
  /** Why its condition cannot be evaluated. */
  readonly problem?: string | undefined;
}

export interface Explanation {
  readonly effect: Effect;
  /** Whether it is listed and found. */
  readonly isVisible: boolean;
  /** The rules that match it, in the order of the config. */
  readonly matched: readonly MatchedRule[];
  /** The rule that decided; undefined: `policy.default` did. */
  readonly decidedBy: Rule | undefined;
  /** Why the call is refused, in the words that its client gets. */
  readonly refusal?: string | undefined;
  /** The arguments that the server gets, as JSON. */
  readonly sent?: string | undefined;
}

export function explain(policy: Policy | undefined, question: ExplainQuery): Explanation {
  const { principal, item, args = "{}", schema } = question;
  if (!policy) return { effect: "allow", isVisible: true, matched: [], decidedBy: undefined, sent: args };
  const scope = policy.scopeOf(principal);
  const decision = scope.evaluate(item);
  const params = `{"arguments":${args}}`;
  const call = { item, decision, principal, params, schema, shownName: item.name };
  const matched = scope.matching(item).map((rule) => ({ rule, ...(rule.condition && evaluateRule(rule, call)) }));
  if (!decision.isVisible) {
    const decidedBy = decision.matched.find(({ effect }) => effect === "deny");
    return { effect: "deny", isVisible: false, matched, decidedBy };
  }
  try {
    const admitted = admit(call);
    const asked = typeof admitted === "string" ? undefined : admitted;
    const sent = (asked?.params ?? (admitted as string)).slice('{"arguments":'.length, -1);
    if (asked) return { effect: "ask", isVisible: true, matched, decidedBy: asked.asks[0], sent };
    const decidedBy = matched.find(({ rule, holds }) => rule.effect === "allow" && holds !== false)?.rule;
    return { effect: "allow", isVisible: true, matched, decidedBy, sent };
  } catch (error) {
    if (!(error instanceof GoblinError)) throw error;
    const decidedBy = error instanceof Refusal ? error.rule : undefined;
    return { effect: "deny", isVisible: true, matched, decidedBy, refusal: error.message };
  }
}
