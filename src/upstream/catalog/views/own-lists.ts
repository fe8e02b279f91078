/**
 * The catalog as single clients see it: the common snapshot, with some servers' lists replaced.
 *
 * A client without lists of its own sees the common snapshot and costs nothing. Clients with equal
 * lists share one view, and equal lists are kept once. A view is built when somebody looks at it,
 * and again when the common snapshot is another one. The number of kept views is bounded.
 */
import { createHash } from "node:crypto";
import type { ChangeKind } from "../../../mcp/protocol/methods.ts";
import type { Viewer } from "../../../mcp/protocol/principal.ts";
import { type ServerLists, sameDefinitions } from "../definitions.ts";
import type { Snapshot } from "../snapshot.ts";

/** The lists that take the place of the common ones, by server. */
export type Differences = ReadonlyMap<string, ServerLists>;

export interface ViewParts {
  /** Returns a server's common lists; undefined if there is no such server. */
  readonly listsOf: (serverId: string) => ServerLists | undefined;
  /** `before`: an earlier view of the same differences, which saves work. */
  readonly build: (differences: Differences, before: Snapshot | undefined) => Snapshot;
}

/** Lists that at least one client has. */
interface Kept {
  readonly key: string;
  readonly lists: ServerLists;
  users: number;
}

const MAX_VIEWS = 64;

/** The key of lists that all clients of a principal see. No client has such a key. */
export function principalKey(principal: string): string {
  return `principal ${principal}`;
}

/** Returns the principal of such a key; undefined if it is a client's key. */
export function principalOf(key: string): string | undefined {
  return key.startsWith("principal ") ? key.slice("principal ".length) : undefined;
}

export class Views {
  readonly #parts: ViewParts;
  /** The lists of clients that have any of their own, by client, then by server. */
  readonly #clients = new Map<string, Map<string, Kept>>();
  readonly #kept = new Map<string, Kept>();
  /** Least recently used first. */
  #views = new Map<string, Snapshot>();
  /** The views that clients were found to have, until something changes. Null: the common one. */
  readonly #found = new Map<string, Snapshot | null>();
  /** Views of the last common snapshot. */
  #outdated = new Map<string, Snapshot>();

  constructor(parts: ViewParts) {
    this.#parts = parts;
  }

  /** Whether all clients see the common snapshot. */
  get isEmpty(): boolean {
    return this.#clients.size === 0;
  }

  has({ key, principal }: Viewer): boolean {
    return this.#clients.has(key) || (principal !== undefined && this.#clients.has(principalKey(principal)));
  }

  /**
   * Returns the view of a client, or of a principal's lists alone; undefined: the common snapshot.
   * `principal`: the client's.
   */
  of(clientKey: string, principal?: string): Snapshot | undefined {
    const shared = principal === undefined ? undefined : this.#clients.get(principalKey(principal));
    const own = this.#clients.get(clientKey) ?? shared;
    if (!own) return undefined;
    const key = !shared ? clientKey : own === shared ? principalKey(principal!) : `${clientKey}\n${principal}`;
    const found = this.#found.get(key);
    if (found !== undefined) return found ?? undefined;
    const differing = this.#differing(shared && own !== shared ? new Map([...shared, ...own]) : own);
    const view = differing.length === 0 ? null : this.#viewOf(differing);
    this.#found.set(key, view);
    return view ?? undefined;
  }

  /** The lists of a client or of a principal are others now. */
  #changed(key: string): void {
    for (const found of this.#found.keys()) if (found === key || found.includes("\n")) this.#found.delete(found);
  }

  #viewOf(differing: readonly [string, Kept][]): Snapshot {
    const key = keyOf(differing);
    const view = this.#views.get(key) ?? this.#parts.build(differencesIn(differing), this.#outdated.get(key));
    this.#views.delete(key);
    this.#views.set(key, view);
    if (this.#views.size > MAX_VIEWS) {
      this.#views.delete(this.#views.keys().next().value!);
      this.#found.clear();
    }
    return view;
  }

  /**
   * Sets the lists that a client sees of a server; undefined: the common ones. Returns the lists
   * that look different to the client now.
   */
  set(clientKey: string, serverId: string, lists: ServerLists | undefined): ChangeKind[] {
    this.#changed(clientKey);
    const own = this.#clients.get(clientKey) ?? new Map<string, Kept>();
    const common = this.#parts.listsOf(serverId);
    const known = own.get(serverId);
    const before = known?.lists ?? common;
    if (lists) own.set(serverId, this.#keep(serverId, lists));
    else own.delete(serverId);
    if (known) this.#release(known);
    if (own.size > 0) this.#clients.set(clientKey, own);
    else this.#clients.delete(clientKey);
    const after = lists ?? common;
    return before && after ? changedKinds(before, after) : [];
  }

  /** Forgets a client that is gone. */
  drop(clientKey: string): void {
    for (const kept of this.#clients.get(clientKey)?.values() ?? []) this.#release(kept);
    this.#clients.delete(clientKey);
    this.#changed(clientKey);
  }

  /** The clients that have lists of their own. */
  clients(): Iterable<string> {
    return this.#clients.keys();
  }

  /** The common snapshot is another one: views are built anew. */
  renew(): void {
    this.#outdated = this.#views;
    this.#views = new Map();
    this.#found.clear();
  }

  /** Returns the client's view before the last `renew`, if it is still known. */
  beforeOf(clientKey: string): Snapshot | undefined {
    const own = this.#clients.get(clientKey);
    return own && this.#outdated.get(keyOf(this.#differing(own)));
  }

  #differing(own: ReadonlyMap<string, Kept>): [string, Kept][] {
    return [...own].filter(([serverId, { lists }]) => {
      const common = this.#parts.listsOf(serverId);
      return common !== undefined && !isSame(lists, common);
    });
  }

  #keep(serverId: string, lists: ServerLists): Kept {
    const key = `${serverId} ${digestOf(lists)}`;
    const kept = this.#kept.get(key) ?? { key, lists, users: 0 };
    kept.users++;
    this.#kept.set(key, kept);
    return kept;
  }

  #release(kept: Kept): void {
    if (--kept.users === 0) this.#kept.delete(kept.key);
  }
}

function keyOf(differing: readonly [string, Kept][]): string {
  return differing
    .map(([, { key }]) => key)
    .sort()
    .join(" ");
}

function differencesIn(differing: readonly [string, Kept][]): Differences {
  return new Map(differing.map(([serverId, { lists }]) => [serverId, lists]));
}

const compared = new WeakMap<ServerLists, WeakMap<ServerLists, boolean>>();

/** Whether two servers' lists look the same. Remembered, because lists never change. */
function isSame(a: ServerLists, b: ServerLists): boolean {
  if (a === b) return true;
  const known = compared.get(a) ?? new WeakMap<ServerLists, boolean>();
  compared.set(a, known);
  let same = known.get(b);
  if (same === undefined) {
    same = changedKinds(a, b).length === 0;
    known.set(b, same);
  }
  return same;
}

/** Returns the kinds of lists that look different. */
function changedKinds(a: ServerLists, b: ServerLists): ChangeKind[] {
  const kinds: ChangeKind[] = [];
  if (!sameDefinitions(a.tools, b.tools)) kinds.push("tools");
  if (!sameDefinitions(a.prompts, b.prompts)) kinds.push("prompts");
  if (!sameDefinitions(a.resources, b.resources) || !sameDefinitions(a.templates, b.templates)) kinds.push("resources");
  return kinds;
}

function digestOf({ tools, prompts, resources, templates }: ServerLists): string {
  const hash = createHash("sha256");
  for (const list of [tools, prompts, resources, templates]) {
    hash.update(`${list.length} `);
    for (const { text } of list) hash.update(`${text.length} `).update(text);
  }
  return hash.digest("base64");
}
