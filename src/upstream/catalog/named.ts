/**
 * The combined list of tools, or of prompts: every server's entries under the names that clients
 * see.
 *
 * Invariant: the same servers give the same names in the same order, regardless of earlier states.
 *
 * Look-up uses maps only, in this order: the exposed name; the namespaced original of an aliased
 * entry, or the form with or without a repeated prefix; an original name that exactly one server
 * has. A name under a configured server's prefix
 * belongs to that server alone, even while the server is down. Changing one server costs time in
 * proportion to its entries, plus one copy of the list.
 */

import { cutMembers, setMember } from "../../lib/json/json-text.ts";
import { OverlayMap } from "../../lib/structures/overlay-map.ts";
import { each, mapped, type Sliced, sorted, textCost } from "../../lib/timing/slices.ts";
import { assignNames, type NameRules, ownName } from "../../mcp/identifiers/names.ts";
import { breaksSchema, type ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import { type Candidate, candidatesOf, type EntryOverride, type NamedSource } from "./candidates.ts";
import { byExposed, changedList, firstIndex } from "./changed-list.ts";
import type { Definition } from "./definitions.ts";
import { toolTokens } from "./tool-tokens.ts";

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
  /** What becomes of its results. Undefined: nothing. */
  readonly results: ResultRules | undefined;
}

export interface NamedList {
  /** Sorted by exposed name. */
  readonly entries: readonly NamedEntry[];
  find(name: string): NamedEntry | undefined;
  /**
   * The entries with this original name. Empty if the name is under a configured server's prefix.
   */
  owners(name: string): readonly NamedEntry[];
  /** The configured servers whose prefix the name has, regardless of their current lists. */
  claimants(name: string): readonly string[];
}

/**
 * One server's contribution. The object stays the same until something about the server changes.
 */
interface Block {
  readonly source: NamedSource;
  readonly candidates: readonly Candidate[];
}

/**
 * Builds the combined list of these servers. The result does not depend on `before`; unchanged
 * parts are reused from it.
 */
export function* combineNamed(
  sources: readonly NamedSource[],
  options: NameRules,
  before?: NamedList,
): Sliced<NamedList> {
  const known = before instanceof CombinedList ? before : undefined;
  const blocks: Block[] = [];
  for (const source of sources) {
    blocks.push(known?.blockFor(source) ?? { source, candidates: yield* candidatesOf(source) });
  }
  return (yield* changedFrom(known, blocks, options)) ?? (yield* CombinedList.of(blocks, options));
}

function* changedFrom(
  known: CombinedList | undefined,
  blocks: readonly Block[],
  options: NameRules,
): Sliced<CombinedList | undefined> {
  return known && (yield* known.changedTo(blocks, options));
}

interface Parts {
  readonly options: NameRules;
  /** In the order of the servers. */
  readonly blocks: ReadonlyMap<string, Block>;
  readonly byName: OverlayMap<string, NamedEntry>;
  readonly originals: OverlayMap<string, readonly NamedEntry[]>;
  readonly others: ReadonlyMap<string, NamedEntry | undefined>;
  /** No collisions: each name depends only on its own entry. */
  readonly isClear: boolean;
}

class CombinedList implements NamedList {
  readonly entries: readonly NamedEntry[];
  readonly #parts: Parts;

  static *of(blocks: readonly Block[], options: NameRules): Sliced<CombinedList> {
    const candidates = blocks.flatMap((block) => block.candidates);
    const exposed = yield* assignNames(candidates, options);
    const entries = yield* mapped(candidates, (candidate, i) => entryOf(candidate, exposed[i]!), textCostOf);
    yield* estimated(entries, entries.length);
    const byName = new Map<string, NamedEntry>();
    yield* each(entries, (entry) => void byName.set(entry.exposed, entry));
    const originals = new Map<string, NamedEntry[]>();
    const others = new Map<string, NamedEntry | undefined>();
    let isClear = true;
    yield* each(candidates, (candidate, i) => {
      const { name, others: more } = candidate;
      isClear &&= ownName(candidate, options) === exposed[i];
      const entry = entries[i]!;
      const same = originals.get(name);
      if (same) same.push(entry);
      else originals.set(name, [entry]);
      const { serverId } = entry;
      for (const other of more) {
        const key = options.claims.needsSuffix(serverId, other)
          ? ownName({ serverId, name, wanted: other }, options)
          : other;
        others.set(key, others.has(key) ? undefined : entry);
      }
    });
    const maps = {
      byName: new OverlayMap(byName),
      originals: new OverlayMap<string, readonly NamedEntry[]>(originals),
      others,
    };
    const inOrder = yield* sorted(entries, byExposed);
    return new CombinedList(inOrder, { options, blocks: byServer(blocks), ...maps, isClear });
  }

  private constructor(entries: readonly NamedEntry[], parts: Parts) {
    this.entries = entries;
    this.#parts = parts;
  }

  find(name: string): NamedEntry | undefined {
    const { byName, others } = this.#parts;
    const entry = byName.get(name) ?? others.get(name);
    if (entry) return entry;
    const same = this.owners(name);
    return same.length === 1 ? same[0] : undefined;
  }

  owners(name: string): readonly NamedEntry[] {
    const same = this.#parts.originals.get(name);
    return same === undefined || this.claimants(name).length > 0 ? [] : same;
  }

  claimants(name: string): readonly string[] {
    return this.#parts.options.claims.of(name);
  }

  /** Returns a server's block if nothing about the server has changed. */
  blockFor({ serverId, prefix, definitions, policy, repeatPrefix }: NamedSource): Block | undefined {
    const block = this.#parts.blocks.get(serverId);
    const known = block?.source;
    const isSame = known?.definitions === definitions && known.prefix === prefix && known.policy === policy;
    return isSame && known.repeatPrefix === repeatPrefix ? block : undefined;
  }

  /**
   * Derives the list for other blocks from this one. Returns undefined if names of unchanged
   * servers could be affected.
   */
  *changedTo(blocks: readonly Block[], options: NameRules): Sliced<CombinedList | undefined> {
    const before = this.#parts;
    const after = byServer(blocks);
    if (!before.isClear || !sameOptions(before.options, options) || !sameOrder(before.blocks, after)) return undefined;
    const gone = [...before.blocks.values()].filter((block) => after.get(block.source.serverId) !== block);
    const come = blocks.filter((block) => before.blocks.get(block.source.serverId) !== block);
    if (gone.length === 0 && come.length === 0) return this;
    if ([...gone, ...come].some(hasOthers)) return undefined;
    // If most of the list changes, rebuilding it is faster.
    if (sizeOf(gone) + sizeOf(come) > this.entries.length) return undefined;

    const byName = new Map<string, NamedEntry | undefined>();
    const originals = new Map<string, readonly NamedEntry[] | undefined>();
    const ownersOf = (name: string): readonly NamedEntry[] =>
      (originals.has(name) ? originals.get(name) : before.originals.get(name)) ?? [];
    const lost: string[] = [];
    yield* each(candidatesIn(gone), (candidate) => {
      const exposed = ownName(candidate, options);
      lost.push(exposed);
      byName.set(exposed, undefined);
      const owners = ownersOf(candidate.name);
      const at = owners.findIndex(({ serverId }) => serverId === candidate.serverId);
      originals.set(candidate.name, owners.length > 1 ? owners.toSpliced(at, 1) : undefined);
    });
    const places = new Map(blocks.map(({ source }, i) => [source.serverId, i]));
    const added: NamedEntry[] = [];
    let hasClash = false;
    const add = (candidate: Candidate): void => {
      const exposed = ownName(candidate, options);
      const holder = byName.has(exposed) ? byName.get(exposed) : before.byName.get(exposed);
      hasClash ||= holder !== undefined || options.reserved.has(exposed);
      if (hasClash) return;
      const entry = entryOf(candidate, exposed);
      added.push(entry);
      byName.set(exposed, entry);
      const owners = ownersOf(candidate.name);
      const place = places.get(entry.serverId)!;
      const at = firstIndex(owners.length, (i) => places.get(owners[i]!.serverId)! > place);
      originals.set(candidate.name, owners.toSpliced(at, 0, entry));
    };
    yield* each(candidatesIn(come), add, textCostOf);
    if (hasClash) return undefined;
    yield* estimated(added, this.entries.length + added.length);
    const maps = { byName: before.byName.with(byName), originals: before.originals.with(originals) };
    const inOrder = yield* sorted(added, byExposed);
    const entries = yield* changedList(this.entries, yield* sorted(lost, byText), inOrder);
    return new CombinedList(entries, { ...before, ...maps, options, blocks: after });
  }
}

function candidatesIn(blocks: readonly Block[]): readonly Candidate[] {
  return blocks.length === 1 ? blocks[0]!.candidates : blocks.flatMap(({ candidates }) => candidates);
}

function textCostOf({ definition }: Candidate | NamedEntry): number {
  return textCost(definition.text);
}

/** The tokens of 200 tools are estimated within a slice. */
const FEW = 200;

/**
 * Estimates the tokens of these entries of a long list here, in slices, so that every later reader
 * finds the numbers. Most gateways never need those of a short one.
 */
function* estimated(entries: readonly NamedEntry[], inAll: number): Sliced<void> {
  if (inAll > FEW) yield* each(entries, toolTokens, textCostOf);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { candidates }) => sum + candidates.length, 0);
}

function hasOthers({ candidates }: Block): boolean {
  return candidates.some(({ others }) => others.length > 0);
}

function byServer(blocks: readonly Block[]): ReadonlyMap<string, Block> {
  return new Map(blocks.map((block) => [block.source.serverId, block]));
}

function sameOptions(a: NameRules, b: NameRules): boolean {
  if (a.maxLength !== b.maxLength || a.reserved.size !== b.reserved.size) return false;
  if (a.claims !== b.claims) return false;
  for (const name of a.reserved) if (!b.reserved.has(name)) return false;
  return true;
}

/** Returns whether the servers in both maps have the same order. */
function sameOrder(a: ReadonlyMap<string, Block>, b: ReadonlyMap<string, Block>): boolean {
  const left = [...a.keys()].filter((id) => b.has(id));
  const right = [...b.keys()].filter((id) => a.has(id));
  return left.every((id, i) => id === right[i]);
}

/**
 * Serialised entries by definition, so that a change of one server costs nothing for the others.
 */
const entryCache = new WeakMap<Definition, NamedEntry>();
/** The same for entries under their own names, which a view of one server has besides. */
const ownEntryCache = new WeakMap<Definition, NamedEntry>();

function entryOf({ serverId, name, definition, override, results }: Candidate, exposed: string): NamedEntry {
  const cache = exposed === name ? ownEntryCache : entryCache;
  const known = cache.get(definition);
  if (
    known &&
    known.exposed === exposed &&
    known.override === override &&
    known.serverId === serverId &&
    known.results === results
  )
    return known;
  const entry = madeEntry({ serverId, name, exposed, definition, override, results });
  cache.set(definition, entry);
  return entry;
}

/** Returns the entry with another definition of the same tool, in JSON. */
export function shapedEntry({ serverId, name, exposed, override, results }: NamedEntry, text: string): NamedEntry {
  const definition = { text, value: JSON.parse(text) as Definition["value"] };
  const entry = madeEntry({ serverId, name, exposed, definition, override, results });
  // Within a slice, too.
  toolTokens(entry);
  return entry;
}

function madeEntry({ serverId, name, exposed, definition, override, results }: Omit<NamedEntry, "text">): NamedEntry {
  let text = exposed === name ? definition.text : setMember(definition.text, "name", JSON.stringify(exposed));
  if (override?.description !== undefined) text = setMember(text, "description", JSON.stringify(override.description));
  // Clients check results against it, and what is kept, cut or left out would not pass.
  if (results && breaksSchema(results)) text = cutMembers(text, (key) => key === "outputSchema");
  return { serverId, name, exposed, text, definition, override, results };
}
