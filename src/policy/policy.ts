/**
 * The policy of a config, compiled: who may use what, and with which arguments.
 *
 * Invariants: it never changes; another config makes another one. A principal's scope is looked up
 * by the principal's own object, so a thousand rules cost a call nothing.
 */
import { createHash } from "node:crypto";
import type { Principal } from "../mcp/protocol/principal.ts";
import { Condition } from "./conditions/condition.ts";
import type { Effect, Fallback, PolicyConfig, RuleConfig } from "./rule.ts";
import { ruleName } from "./rule.ts";
import { Scope } from "./scope.ts";
import { Target } from "./target.ts";
import { concerns } from "./who.ts";

/** A compiled rule. */
export interface Rule {
  /** Its place in the config. */
  readonly index: number;
  /** Its id, or a name made from its place. */
  readonly name: string;
  readonly effect: Effect;
  /** What it allows needs no person's approval. */
  readonly isUnasked: boolean;
  /** Identifies what the rule says. Another place in the config changes nothing about it. */
  readonly revision: string;
  readonly reason: string | undefined;
  readonly target: Target;
  readonly condition: Condition | undefined;
  readonly set: Readonly<Record<string, unknown>>;
  readonly hide: readonly string[];
  readonly who: RuleConfig["who"];
}

const MAX_SCOPES = 256;

export class Policy {
  /** Identifies the rules, for the audit file. */
  readonly revision: string;
  readonly rules: readonly Rule[];
  readonly #fallback: Fallback;
  readonly #ofPrincipals = new WeakMap<Principal, Scope>();
  /** Least recently used first. */
  readonly #scopes = new Map<string, Scope>();

  /** `serverIds`: the servers of the config, which patterns may name. */
  constructor({ default: fallback, rules }: PolicyConfig, serverIds: readonly string[]) {
    this.rules = rules.map((rule, index) => compile(rule, index, serverIds));
    this.#fallback = fallback;
    this.revision = createHash("sha256")
      .update(JSON.stringify([fallback, rules, serverIds]))
      .digest("hex")
      .slice(0, 12);
  }

  scopeOf(principal: Principal): Scope {
    const known = this.#ofPrincipals.get(principal);
    if (known) return known;
    const rules = this.rules.filter(({ who }) => concerns(who, principal));
    const indexes = rules.map(({ index }) => index.toString(36)).join(".");
    const key = createHash("sha256").update(`${this.revision} ${indexes}`).digest("base64url");
    const scope = this.#scopes.get(key) ?? new Scope(key, rules, this.#fallback);
    this.#scopes.delete(key);
    this.#scopes.set(key, scope);
    if (this.#scopes.size > MAX_SCOPES) {
      for (const oldest of this.#scopes.keys()) {
        this.#scopes.delete(oldest);
        break;
      }
    }
    this.#ofPrincipals.set(principal, scope);
    return scope;
  }
}

/** Returns undefined if the config has no policy: everybody may use everything. */
export function createPolicy(config: PolicyConfig, serverIds: readonly string[]): Policy | undefined {
  return config.default === "allow" && config.rules.length === 0 ? undefined : new Policy(config, serverIds);
}

function compile(rule: RuleConfig, index: number, serverIds: readonly string[]): Rule {
  return {
    index,
    name: ruleName(rule, index),
    effect: rule.effect,
    isUnasked: rule.ask === false,
    revision: createHash("sha256").update(JSON.stringify(rule)).digest("hex").slice(0, 12),
    reason: rule.reason,
    target: new Target(rule, serverIds),
    condition: rule.when === undefined ? undefined : new Condition(rule.when),
    set: rule.set ?? {},
    hide: rule.hide ?? [],
    who: rule.who,
  };
}
