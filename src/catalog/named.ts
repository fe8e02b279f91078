/**
 * The combined list of tools, or of prompts: every server's entries under the names that clients see.
 *
 * Pure and deterministic: the same servers give the same names in the same order, whatever order they come in. Look-up is by
 * map only: the exposed name, else the namespaced original of an aliased entry, else an original name that just one server has.
 */
import { matchesGlob } from "../model/glob.ts";
import { setMember } from "../model/json-text.ts";
import { assignNames, type Named } from "../model/names.ts";
import { type Definition, stringOf } from "./definitions.ts";

export interface NamedEntry {
  readonly serverId: string;
  /** The server's own name for it. */
  readonly name: string;
  /** The name that clients see. */
  readonly exposed: string;
  /** The definition as clients see it. */
  readonly text: string;
  readonly definition: Definition;
  readonly override: EntryOverride | undefined;
}

export interface EntryOverride {
  readonly alias?: string | undefined;
  readonly description?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly enabled?: boolean | undefined;
}

export interface NamePolicy {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly overrides: Readonly<Record<string, EntryOverride>>;
}

export interface NamedSource {
  readonly serverId: string;
  readonly prefix: string;
  readonly definitions: readonly Definition[];
  readonly policy?: NamePolicy;
}

export interface NamedList {
  /** Sorted by exposed name. */
  readonly entries: readonly NamedEntry[];
  find(name: string): NamedEntry | undefined;
  /** The servers that have an entry with this original name. */
  owners(name: string): readonly NamedEntry[];
}

interface Candidate extends Named {
  readonly definition: Definition;
  readonly override: EntryOverride | undefined;
  /** The namespaced original, where an alias took its place. */
  readonly other: string | undefined;
}

export function combineNamed(
  sources: readonly NamedSource[],
  options: { readonly maxLength: number; readonly reserved: ReadonlySet<string> },
): NamedList {
  const candidates = sources.flatMap(candidatesOf);
  const exposed = assignNames(candidates, options);
  const entries = candidates.map((candidate, i) => entryOf(candidate, exposed[i]!));
  const byName = new Map(entries.map((entry) => [entry.exposed, entry]));
  const originals = new Map<string, NamedEntry[]>();
  const others = new Map<string, NamedEntry | undefined>();
  candidates.forEach(({ name, other }, i) => {
    const entry = entries[i]!;
    const same = originals.get(name);
    if (same) same.push(entry);
    else originals.set(name, [entry]);
    if (other !== undefined) others.set(other, others.has(other) ? undefined : entry);
  });
  entries.sort((a, b) => (a.exposed < b.exposed ? -1 : 1));
  return {
    entries,
    find(name) {
      const entry = byName.get(name) ?? others.get(name);
      if (entry) return entry;
      const same = originals.get(name);
      return same?.length === 1 ? same[0] : undefined;
    },
    owners: (name) => originals.get(name) ?? [],
  };
}

function candidatesOf({ serverId, prefix, definitions, policy }: NamedSource): Candidate[] {
  const seen = new Set<string>();
  const found: Candidate[] = [];
  for (const definition of definitions) {
    const name = stringOf(definition, "name");
    if (name === undefined || seen.has(name)) continue;
    seen.add(name);
    const override = policy && Object.hasOwn(policy.overrides, name) ? policy.overrides[name] : undefined;
    if (policy && !isAllowed(name, policy, override)) continue;
    const alias = override?.alias;
    const wanted = prefix + (alias ?? name);
    const other = alias === undefined ? undefined : prefix + name;
    found.push({ serverId, name, wanted, definition, override, other });
  }
  return found;
}

function isAllowed(name: string, policy: NamePolicy, override: EntryOverride | undefined): boolean {
  if (override?.enabled === false) return false;
  if (policy.deny.some((pattern) => matchesGlob(pattern, name))) return false;
  return policy.allow.some((pattern) => matchesGlob(pattern, name));
}

/** Serialised entries are kept with their definition, so that a change of one server costs nothing for the others. */
const entryCache = new WeakMap<Definition, NamedEntry>();

function entryOf({ serverId, name, definition, override }: Candidate, exposed: string): NamedEntry {
  const known = entryCache.get(definition);
  if (known && known.exposed === exposed && known.override === override && known.serverId === serverId) return known;
  let text = exposed === name ? definition.text : setMember(definition.text, "name", JSON.stringify(exposed));
  if (override?.description !== undefined) text = setMember(text, "description", JSON.stringify(override.description));
  const entry: NamedEntry = { serverId, name, exposed, text, definition, override };
  entryCache.set(definition, entry);
  return entry;
}
