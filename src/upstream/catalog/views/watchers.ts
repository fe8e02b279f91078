/**
 * Tells clients which of their lists have changed: those that look different in their own view, and
 * no others.
 *
 * A client that sees everything is told with the common lists, and one with lists of its own when
 * those change. For a client with a visibility the view that it was told of last is compared with
 * the newest one; both are shared with all clients of that visibility, and so is the comparison.
 */

import { inSlices } from "../../../lib/timing/slices.ts";
import type { ChangeKind } from "../../../mcp/protocol/methods.ts";
import type { Viewer, Visibility } from "../../../mcp/protocol/principal.ts";
import type { Snapshot } from "../snapshot.ts";
import { changedLists } from "./changed-lists.ts";
import { principalKey } from "./own-lists.ts";

export interface WatchedCatalog {
  view(viewer: Viewer): Snapshot;
  ready(viewer: Viewer): Promise<void> | undefined;
  hasOwnLists(viewer: Viewer): boolean;
}

interface Watcher {
  /** Its visibility may change. */
  readonly viewer: Viewer;
  readonly tell: (kinds: readonly ChangeKind[]) => void;
  /** The visibility that it had last. */
  visibility: Visibility | undefined;
  /** The view that it knows. Undefined if it sees everything. */
  known: Snapshot | undefined;
  isFollowing: boolean;
}

export class Watchers {
  readonly #catalog: WatchedCatalog;
  readonly #watchers = new Set<Watcher>();

  constructor(catalog: WatchedCatalog) {
    this.#catalog = catalog;
  }

  /** Returns a function that ends it. */
  add(viewer: Viewer, tell: (kinds: readonly ChangeKind[]) => void): () => void {
    const { visibility } = viewer;
    const watcher: Watcher = { viewer, tell, visibility, known: undefined, isFollowing: false };
    this.#watchers.add(watcher);
    if (visibility) void this.#follow(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The common lists of these kinds look different. */
  listed(kinds: readonly ChangeKind[]): void {
    for (const { viewer, visibility, tell } of this.#watchers) {
      if (!visibility && !this.#catalog.hasOwnLists(viewer)) tell(kinds);
    }
  }

  /** The lists of one client, or of one principal, look different. */
  listedFor(key: string, kinds: readonly ChangeKind[]): void {
    for (const watcher of this.#watchers) {
      if (!isMeant(watcher.viewer, key)) continue;
      if (watcher.visibility) void this.#follow(watcher);
      else watcher.tell(kinds);
    }
  }

  /**
   * A server announced a change that nobody can see. Those are told that see the server, except of
   * lists in which all of it is hidden from them.
   */
  announced(serverId: string, kinds: readonly ChangeKind[], clientKey?: string): void {
    for (const { viewer, visibility, known, tell } of this.#watchers) {
      if (clientKey !== undefined && !isMeant(viewer, clientKey)) continue;
      if (visibility?.showsServer(serverId) === false) continue;
      const seen = visibility ? this.#seen(serverId, kinds, { viewer, known }) : kinds;
      if (seen.length > 0) tell(seen);
    }
  }

  #seen(
    serverId: string,
    kinds: readonly ChangeKind[],
    { viewer, known = this.#catalog.view(viewer) }: Pick<Watcher, "viewer" | "known">,
  ): readonly ChangeKind[] {
    const all = serversIn(this.#catalog.view(seeingAll(viewer)));
    const own = serversIn(known);
    return kinds.filter((kind) => own[kind].has(serverId) || !all[kind].has(serverId));
  }

  /** There is a new snapshot, or clients have another visibility. */
  look(): void {
    for (const watcher of this.#watchers) {
      const { viewer, visibility: before } = watcher;
      if (!before && !viewer.visibility) continue;
      if (!before) watcher.known = this.#catalog.view(seeingAll(viewer));
      watcher.visibility = viewer.visibility;
      void this.#follow(watcher);
    }
  }

  async #follow(watcher: Watcher): Promise<void> {
    if (watcher.isFollowing) return;
    watcher.isFollowing = true;
    const { viewer } = watcher;
    for (;;) {
      await this.#catalog.ready(viewer);
      const view = this.#catalog.view(viewer);
      const before = watcher.known;
      if (view === before || !this.#watchers.has(watcher)) break;
      watcher.known = view;
      const kinds = before ? await compared(before, view) : [];
      if (kinds.length > 0 && this.#watchers.has(watcher)) watcher.tell(kinds);
    }
    watcher.isFollowing = false;
    if (!watcher.visibility) watcher.known = undefined;
  }
}

/** The same client, as if it saw everything. */
export function seeingAll({ key, principal }: Viewer): Viewer {
  return { key, ...(principal !== undefined && { principal }), visibility: undefined };
}

function isMeant({ key, principal }: Viewer, meant: string): boolean {
  return key === meant || (principal !== undefined && principalKey(principal) === meant);
}

const seenServers = new WeakMap<Snapshot, Readonly<Record<ChangeKind, ReadonlySet<string>>>>();

/** The servers that have something in each list of a view. */
function serversIn(view: Snapshot): Readonly<Record<ChangeKind, ReadonlySet<string>>> {
  const ids = (...lists: (readonly { readonly serverId: string }[])[]): Set<string> =>
    new Set(lists.flatMap((list) => list.map(({ serverId }) => serverId)));
  const { tools, prompts, resources } = view;
  const known = seenServers.get(view) ?? {
    tools: ids(tools.entries),
    prompts: ids(prompts.entries),
    resources: ids(resources.resources, resources.templates),
  };
  seenServers.set(view, known);
  return known;
}

const comparisons = new WeakMap<Snapshot, WeakMap<Snapshot, Promise<ChangeKind[]>>>();

function compared(before: Snapshot, after: Snapshot): Promise<ChangeKind[]> {
  const known = comparisons.get(before) ?? new WeakMap<Snapshot, Promise<ChangeKind[]>>();
  comparisons.set(before, known);
  const kinds = known.get(after) ?? inSlices(changedLists(before, after));
  known.set(after, kinds);
  return kinds;
}
