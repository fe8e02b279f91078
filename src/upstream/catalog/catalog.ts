/**
 * The combined catalog of all servers: one immutable snapshot, replaced as a whole when a server's
 * lists change.
 *
 * A snapshot is built in slices, so that a large list does not hold up other events. Changes of
 * usual size fit into one slice. A newer change supersedes an unfinished snapshot, but only a few
 * times in a row, so that constant changes cannot keep others out.
 *
 * Invariants: a reader that takes `catalog.snapshot` once never sees half a change. Changes within
 * one turn of the event loop become one snapshot and one set of events. `change` reports every
 * difference, `listed` only the lists that look different to clients; both come after the snapshot.
 * A server's standing never gets ahead of its lists.
 */
import { EventEmitter } from "node:events";
import { finish, runSlice, type Sliced } from "../../lib/timing/slices.ts";
import type { ChangeKind } from "../../mcp/protocol/methods.ts";
import type { Viewer } from "../../mcp/protocol/principal.ts";
import { type Definition, emptyLists, type ServerLists } from "./definitions.ts";
import {
  buildSnapshot,
  createSnapshot,
  type ServerView,
  type Snapshot,
  type SnapshotSettings,
  withStandings,
} from "./snapshot.ts";
import { KNOWN, type Standing } from "./standing.ts";
import { changedLists, sameTexts } from "./views/changed-lists.ts";
import { Views } from "./views/own-lists.ts";
import { VisibleViews } from "./views/visible-views.ts";
import { seeingAll, Watchers } from "./views/watchers.ts";

export interface CatalogEvents {
  /** Entries of these kinds were added, removed or updated, listed or not. */
  change: [kinds: readonly ChangeKind[]];
  /**
   * There is a new snapshot with other entries or settings, whether clients see a difference or
   * not.
   */
  swap: [];
  /** There is a new snapshot. Perhaps only the standing of a server differs. */
  snapshot: [];
}

/** The light form of a tool: enough for a model to choose it. */
export interface ToolCard {
  readonly name: string;
  readonly description: string | undefined;
  readonly serverId: string;
}

/** After as many superseded builds in a row, the next one is finished. */
const MAX_SUPERSEDED = 3;

export class Catalog extends EventEmitter<CatalogEvents> {
  #servers = new Map<string, ServerView>();
  #snapshot: Snapshot;
  #settings: SnapshotSettings;
  #scheduled = false;
  readonly #views: Views;
  readonly #visible: VisibleViews;
  readonly #watchers = new Watchers(this);
  /** True if a scheduled change goes beyond the standing of servers. */
  #differs = false;
  /** The snapshot under way. */
  #build: Build | undefined;
  /** Changes are numbered. The snapshot has those up to `#applied`. */
  #reported = 0;
  #applied = 0;
  #waiting: { readonly version: number; readonly resolve: () => void }[] = [];

  constructor(settings: SnapshotSettings) {
    super();
    this.#settings = settings;
    this.#snapshot = createSnapshot([], settings);
    this.#visible = new VisibleViews(this.#snapshot);
    this.#views = new Views({
      listsOf: (serverId) => this.#servers.get(serverId)?.lists,
      build: (differences, before) => {
        const servers = [...this.#servers.values()].map((server) => {
          const lists = differences.get(server.id);
          // A client with lists of its own already has what others may still need, such as a login.
          return lists ? { ...server, lists, standing: KNOWN } : server;
        });
        return finish(buildSnapshot(servers, this.#settings, before ?? this.#snapshot));
      },
    });
  }

  /** Returns the newest snapshot, with every change reported so far that fits into one slice. */
  get snapshot(): Snapshot {
    if (this.#scheduled) this.#begin();
    return this.#snapshot;
  }

  /**
   * Resolves when the snapshot has every change reported so far. It does not hurry: servers that
   * arrive in the same turn share one snapshot.
   */
  caughtUp(): Promise<void> {
    const version = this.#reported;
    if (this.#applied >= version) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ version, resolve }));
  }

  /**
   * Returns the newest snapshot as this client sees it. It is the common one, unless the client has
   * lists of its own or does not see everything.
   */
  view({ key, principal, visibility }: Viewer): Snapshot {
    const common = this.snapshot;
    const base = this.#views.isEmpty ? common : (this.#views.of(key, principal) ?? common);
    return visibility === undefined ? base : this.#visible.of(base, visibility);
  }

  /** Resolves when `view` need not build anything. Undefined: now. */
  ready(viewer: Viewer): Promise<void> | undefined {
    const { visibility } = viewer;
    if (visibility === undefined) return undefined;
    return this.#visible.ready(this.view(seeingAll(viewer)), visibility);
  }

  /** The number of kept views of clients that do not see everything. */
  get visibleViews(): number {
    return this.#visible.size;
  }

  /**
   * Tells which lists look different to a client from now on. Its visibility may change; then call
   * `lookAgain`. Returns a function that ends it.
   */
  watch(viewer: Viewer, tell: (kinds: readonly ChangeKind[]) => void): () => void {
    return this.#watchers.add(viewer, tell);
  }

  /** Clients may have another visibility than before. */
  lookAgain(): void {
    this.#watchers.look();
  }

  /** Whether the client has lists of its own. */
  hasOwnLists(viewer: Viewer): boolean {
    return !this.#views.isEmpty && this.#views.has(viewer);
  }

  /** Sets the lists that this client sees of a server; undefined: the common ones. */
  own(clientKey: string, serverId: string, lists: ServerLists | undefined): void {
    if (this.#scheduled) this.#begin();
    const kinds = this.#views.set(clientKey, serverId, lists);
    if (kinds.length === 0) return;
    this.emit("snapshot");
    this.#watchers.listedFor(clientKey, kinds);
  }

  /** Forgets the lists of a client that is gone. */
  disown(clientKey: string): void {
    this.#views.drop(clientKey);
  }

  /**
   * Adds a configured server or replaces its settings, and keeps its lists and its standing.
   * Servers keep the order in which they were added.
   */
  put(server: Omit<ServerView, "lists" | "standing">): void {
    const { lists, standing } = this.#servers.get(server.id) ?? { lists: emptyLists, standing: KNOWN };
    this.#servers.set(server.id, { ...server, lists, standing });
    this.#schedule();
  }

  /** Sets the standing of a server. */
  stand(serverId: string, standing: Standing): void {
    const server = this.#servers.get(serverId);
    if (!server || (server.standing.kind === standing.kind && !("reason" in standing))) return;
    this.#servers.set(serverId, { ...server, standing });
    this.#schedule((server.standing.kind === "disabled") !== (standing.kind === "disabled"));
  }

  update(serverId: string, lists: ServerLists): void {
    const server = this.#servers.get(serverId);
    if (!server) return;
    this.#servers.set(serverId, { ...server, lists });
    this.#schedule();
  }

  /**
   * A server announced a change of lists that look the same. Clients are told all the same;
   * `clientKey`: only this one.
   */
  announce(serverId: string, kinds: readonly ChangeKind[], clientKey?: string): void {
    this.#watchers.announced(serverId, kinds, clientKey);
  }

  remove(serverId: string): void {
    if (this.#servers.delete(serverId)) this.#schedule();
  }

  /** Reorders the servers. The order decides which server keeps a contested name. */
  arrange(order: readonly string[]): void {
    const known = this.#servers;
    this.#servers = new Map(order.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])));
    this.#schedule();
  }

  configure(settings: SnapshotSettings): void {
    this.#settings = settings;
    this.#schedule();
  }

  /**
   * Returns the tools of all servers, listed or not: complete definitions, or the light form
   * without schemas.
   */
  listTools(options: { readonly compact: true }): ToolCard[];
  listTools(options?: { readonly compact?: false }): Definition["value"][];
  listTools({ compact = false }: { readonly compact?: boolean } = {}): ToolCard[] | Definition["value"][] {
    const { entries } = this.snapshot.tools;
    if (!compact) return entries.map(({ text }) => JSON.parse(text) as Definition["value"]);
    return entries.map(({ exposed, serverId, text }) => {
      const { description } = JSON.parse(text) as { description?: unknown };
      return { name: exposed, description: typeof description === "string" ? description : undefined, serverId };
    });
  }

  /** Returns a tool's complete definition, with its schema, by any name that a call accepts. */
  getTool(name: string): Definition["value"] | undefined {
    const entry = this.snapshot.tools.find(name);
    return entry && (JSON.parse(entry.text) as Definition["value"]);
  }

  #schedule(differs = true): void {
    this.#differs ||= differs;
    this.#reported++;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      if (this.#scheduled) this.#begin();
    });
  }

  /** Begins the next snapshot, unless the one under way must be finished first. */
  #begin(): void {
    const unfinished = this.#build;
    if (unfinished && (!this.#differs || unfinished.superseded === MAX_SUPERSEDED)) return;
    this.#scheduled = false;
    const upTo = this.#reported;
    const before = this.#snapshot;
    const servers = [...this.#servers.values()];
    if (!this.#differs) {
      const after = withStandings(before, servers);
      this.#visible.restand(after, servers);
      this.#swap({ after, changed: undefined }, upTo);
      return;
    }
    this.#differs = false;
    const superseded = unfinished ? unfinished.superseded + 1 : 0;
    this.#build = { work: successorOf(before, servers, this.#settings), upTo, superseded };
    this.#continue(this.#build);
  }

  /** Does one slice of the build, if it is still the newest. */
  #continue(build: Build): void {
    if (this.#build !== build) return;
    const done = runSlice(build.work);
    if (!done) {
      setImmediate(() => this.#continue(build));
      return;
    }
    this.#build = undefined;
    this.#swap(done.result, build.upTo);
    // A change that had to wait for this snapshot.
    if (this.#scheduled) this.#begin();
  }

  #swap({ after, changed }: Successor, upTo: number): void {
    this.#snapshot = after;
    this.#applied = upTo;
    this.#views.renew();
    if (changed) this.#visible.renew(after);
    this.emit("snapshot");
    if (changed) {
      this.emit("swap");
      this.#announceViews(changed.listed);
      if (changed.kinds.length > 0) this.emit("change", changed.kinds);
      if (changed.listed.length > 0) this.#watchers.listed(changed.listed);
      this.#watchers.look();
    }
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ version }) => version > upTo);
    for (const { version, resolve } of waiting) if (version <= upTo) resolve();
  }

  /** `listed`: how the common lists changed. */
  #announceViews(listed: readonly ChangeKind[]): void {
    for (const clientKey of this.#views.clients()) {
      const before = this.#views.beforeOf(clientKey);
      const kinds = before ? finish(changedLists(before, this.#views.of(clientKey) ?? this.#snapshot)) : listed;
      if (kinds.length > 0) this.#watchers.listedFor(clientKey, kinds);
    }
  }
}

interface Build {
  readonly work: Sliced<Successor>;
  /** The number of the newest change in it. */
  readonly upTo: number;
  /** How many unfinished builds were given up for this one. */
  readonly superseded: number;
}

/** A new snapshot. `changed`: what differs from the one before it, besides standings. */
interface Successor {
  readonly after: Snapshot;
  readonly changed: { readonly kinds: readonly ChangeKind[]; readonly listed: readonly ChangeKind[] } | undefined;
}

function* successorOf(before: Snapshot, servers: readonly ServerView[], settings: SnapshotSettings): Sliced<Successor> {
  const after = yield* buildSnapshot(servers, settings, before);
  const listed = yield* changedLists(before, after);
  const sameTools = listed.includes("tools") || (yield* sameTexts(before.tools.entries, after.tools.entries));
  return { after, changed: { kinds: sameTools ? listed : ["tools", ...listed], listed } };
}
