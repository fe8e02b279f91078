/**
 * The rules that concern a principal, applied to what servers offer. Principals with the same rules
 * share a scope.
 *
 * Invariants: deny beats ask, and ask beats allow, regardless of the order. A decision is made once
 * for each item and then looked up. Rules with a condition hide nothing: they are asked at each
 * call.
 */
import type { ArgumentPath } from "./argument-path.ts";
import { readPath } from "./argument-path.ts";
import type { Rule } from "./policy.ts";
import type { Fallback, Item } from "./rule.ts";

/** An argument's value that a rule sets. */
export interface Setting {
  readonly path: ArgumentPath;
  /** JSON. */
  readonly value: string;
  readonly rule: Rule;
}

/** What holds for an item, whatever the arguments are. */
export interface Decision {
  /** Whether there are arguments with which it may be used. Otherwise it does not exist. */
  readonly isVisible: boolean;
  /** The rules that matched without a condition, in the order of the config. */
  readonly matched: readonly Rule[];
  /** Denies that depend on the arguments. */
  readonly denies: readonly Rule[];
  /** If nothing allows it in any case: the rules that would, of which one must hold. */
  readonly allows: readonly Rule[] | undefined;
  /** The rules by which a person is asked first, if their condition holds. */
  readonly asks: readonly Rule[];
  /** Allows that depend on the arguments, and for which nobody is asked. */
  readonly unasked: readonly Rule[];
  readonly sets: readonly Setting[];
  readonly hides: readonly ArgumentPath[];
  /** Whether a call needs no look at its arguments. */
  readonly isPlain: boolean;
}

/** The rules of a scope that reach one server. */
interface ServerRules {
  /** By the tools that they name without wildcards. */
  readonly byTool: ReadonlyMap<string, readonly Rule[]>;
  readonly others: readonly Rule[];
  readonly isHidden: boolean;
}

const MAX_URIS = 2048;
const NO_RULES: readonly Rule[] = [];

export class Scope {
  /** Equal keys: the same rules of the same policy. */
  readonly key: string;
  /** Whether a decision about a call may depend on its arguments, or change them. */
  readonly needsArguments: boolean;
  /** Whether everything is allowed in any case. */
  readonly isOpen: boolean;
  /** The rules that concern its principals, in the order of the config. */
  readonly rules: readonly Rule[];
  readonly #fallback: Fallback;
  readonly #servers = new Map<string, ServerRules>();
  readonly #decisions = new WeakMap<object, Decision>();
  /** Decisions about URIs, least recently used first. */
  readonly #uris = new Map<string, Decision>();

  constructor(key: string, rules: readonly Rule[], fallback: Fallback) {
    this.key = key;
    this.rules = rules;
    this.#fallback = fallback;
    this.needsArguments = rules.some(
      ({ effect, condition, set, hide }) => effect === "ask" || condition || Object.keys(set).length + hide.length > 0,
    );
    const isDenied = fallback === "deny" || rules.some(({ effect }) => effect === "deny");
    this.isOpen = !isDenied && !this.needsArguments;
  }

  /** Whether anything of a server can be used. */
  seesServer(serverId: string): boolean {
    return !this.#rulesOf(serverId).isHidden;
  }

  /** `definition` identifies the item: equal ones must be the same object, changed ones others. */
  decide(item: Item, definition: object): Decision {
    const known = this.#decisions.get(definition);
    if (known) return known;
    const decision = this.evaluate(item);
    this.#decisions.set(definition, decision);
    return decision;
  }

  /** For URIs that are in no list. */
  decideUri(serverId: string, uri: string): Decision {
    const key = `${serverId}\n${uri}`;
    const known = this.#uris.get(key);
    const decision = known ?? this.evaluate({ kind: "resource", serverId, name: uri });
    if (known) this.#uris.delete(key);
    this.#uris.set(key, decision);
    if (this.#uris.size > MAX_URIS) {
      for (const oldest of this.#uris.keys()) {
        this.#uris.delete(oldest);
        break;
      }
    }
    return decision;
  }

  /** Makes a decision anew. */
  evaluate(item: Item): Decision {
    const matched = this.matching(item);
    const fixed = matched.filter(({ condition }) => !condition);
    const conditional = matched.filter(({ condition }) => condition);
    const isAllowed = this.#fallback === "allow" || fixed.some(({ effect }) => effect !== "deny");
    const allows = isAllowed ? undefined : conditional.filter(({ effect }) => effect !== "deny");
    const asks = fixed.some(({ isUnasked }) => isUnasked) ? [] : matched.filter(({ effect }) => effect === "ask");
    const isDenied = fixed.some(({ effect }) => effect === "deny");
    const denies = conditional.filter(({ effect }) => effect === "deny");
    const isTool = item.kind === "tool";
    const sets = isTool ? settingsOf(fixed) : [];
    const hides = isTool ? hiddenBy(fixed) : [];
    return {
      isVisible: !isDenied && (allows === undefined || allows.length > 0),
      matched: fixed,
      denies,
      allows,
      asks,
      unasked: conditional.filter(({ isUnasked }) => isUnasked),
      sets,
      hides,
      isPlain: denies.length + asks.length + sets.length + hides.length === 0 && allows === undefined,
    };
  }

  /** All rules that match, with or without a condition. */
  matching(item: Item): Rule[] {
    const { byTool, others } = this.#rulesOf(item.serverId);
    const named = item.kind === "tool" ? (byTool.get(item.name) ?? NO_RULES) : NO_RULES;
    return [...named, ...others.filter(({ target }) => target.matches(item))].sort((a, b) => a.index - b.index);
  }

  #rulesOf(serverId: string): ServerRules {
    const known = this.#servers.get(serverId);
    if (known) return known;
    const rules = indexed(serverId, this.rules, this.#fallback);
    this.#servers.set(serverId, rules);
    return rules;
  }
}

function indexed(serverId: string, rules: readonly Rule[], fallback: Fallback): ServerRules {
  const byTool = new Map<string, Rule[]>();
  const others: Rule[] = [];
  const reaching = rules.filter(({ target }) => target.reaches(serverId));
  for (const rule of reaching) {
    const tools = rule.target.literalTools(serverId);
    if (!tools) others.push(rule);
    for (const tool of new Set(tools)) {
      const same = byTool.get(tool);
      if (same) same.push(rule);
      else byTool.set(tool, [rule]);
    }
  }
  const isDenied = reaching.some(({ effect, condition, target }) => effect === "deny" && !condition && target.isWhole);
  const isAllowed = fallback === "allow" || reaching.some(({ effect }) => effect !== "deny");
  return { byTool, others, isHidden: isDenied || !isAllowed };
}

/** The first rule that sets an argument decides. */
function settingsOf(rules: readonly Rule[]): Setting[] {
  const settings = new Map<string, Setting>();
  for (const rule of rules) {
    for (const [written, value] of Object.entries(rule.set)) {
      const path = readPath(written);
      const key = JSON.stringify(path);
      if (!settings.has(key)) settings.set(key, { path, value: JSON.stringify(value), rule });
    }
  }
  return [...settings.values()];
}

function hiddenBy(rules: readonly Rule[]): ArgumentPath[] {
  return [...new Set(rules.flatMap(({ hide }) => hide))].map(readPath);
}
