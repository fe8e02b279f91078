/**
 * One server's contribution to a combined list: the entries that its policy allows, with the names
 * that each one wants and accepts.
 *
 * Invariant: the result depends on the config and on this server's own list alone.
 */

import { matchesGlob } from "../../lib/text/glob.ts";
import { each, type Sliced } from "../../lib/timing/slices.ts";
import type { Named } from "../../mcp/identifiers/names.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import { type Definition, stringOf } from "./definitions.ts";

export interface EntryOverride {
  readonly alias?: string | undefined;
  readonly description?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly enabled?: boolean | undefined;
  readonly results?: ResultRules | undefined;
}

export interface NamePolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly overrides: Readonly<Record<string, EntryOverride>>;
  /** What becomes of the results of tools without an override. */
  readonly results?: ResultRules | undefined;
}

export interface NamedSource {
  readonly serverId: string;
  readonly prefix: string;
  readonly definitions: readonly Definition[];
  readonly policy?: NamePolicy;
  /** Whether a name that begins with the prefix gets it again. Default: true. */
  readonly repeatPrefix?: boolean | undefined;
}

export interface Candidate extends Named {
  readonly definition: Definition;
  readonly override: EntryOverride | undefined;
  /** What becomes of its results. Undefined: nothing. */
  readonly results: ResultRules | undefined;
  /** Other names under the server's prefix that calls may use. */
  readonly others: readonly string[];
}

export function* candidatesOf(source: NamedSource): Sliced<Candidate[]> {
  const { serverId, prefix, definitions, policy, repeatPrefix } = source;
  const seen = new Set<string>();
  const found: Candidate[] = [];
  const patterns = policy ? policy.allow.length + policy.deny.length : 0;
  const carriesPrefix = yield* prefixCarriers(prefix, definitions);
  const take = (definition: Definition): void => {
    const name = stringOf(definition, "name");
    if (name === undefined || seen.has(name)) return;
    seen.add(name);
    const override = policy && Object.hasOwn(policy.overrides, name) ? policy.overrides[name] : undefined;
    if (policy && !isAllowed(name, policy)) return;
    const alias = override?.alias;
    const forms = carriesPrefix.has(name)
      ? repeatPrefix === false
        ? [name, prefix + name]
        : [prefix + name, name]
      : [prefix + name];
    const wanted = alias === undefined ? forms[0]! : prefix + alias;
    const others = alias === undefined ? forms.slice(1) : forms;
    const results = override ? override.results : policy?.results;
    found.push({ serverId, name, wanted, definition, override, results, others });
  };
  yield* each(definitions, take, () => 1 + patterns);
  return found;
}

/**
 * Returns the names that begin with the server's own prefix and are clear without a second one:
 * `git_status` of `git_`, unless the server also has a `status`, hidden or not.
 */
function* prefixCarriers(prefix: string, definitions: readonly Definition[]): Sliced<ReadonlySet<string>> {
  const carriers = new Set<string>();
  if (prefix === "") return carriers;
  yield* each(definitions, (definition) => {
    const name = stringOf(definition, "name") ?? "";
    if (name.startsWith(prefix) && name.length > prefix.length) carriers.add(name);
  });
  if (carriers.size === 0) return carriers;
  yield* each(definitions, (definition) => void carriers.delete(prefix + (stringOf(definition, "name") ?? "")));
  return carriers;
}

function isAllowed(name: string, policy: NamePolicy): boolean {
  if (policy.deny.some((pattern) => matchesGlob(pattern, name))) return false;
  return policy.allow.some((pattern) => matchesGlob(pattern, name));
}
