/**
 * Searches the catalog, and keeps the index in step with it: off the request path, and only for
 * servers that changed.
 *
 * Documents are made in slices of a few milliseconds between events. A search waits until the index
 * knows every entry of the newest snapshot, so that it finds everything the client was told about.
 * It also waits until most entries are indexed: scanning thousands one by one would block all other
 * requests. Nothing else waits for the index. Most gateways list all tools and offer no search:
 * their index stays empty.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Viewer } from "../../../mcp/protocol/principal.ts";
import type { Catalog } from "../catalog.ts";
import type { Definition } from "../definitions.ts";
import type { Snapshot } from "../snapshot.ts";
import { FedIndex } from "./fed-index.ts";
import { docsOf, nameIn } from "./from-entries.ts";
import type { SearchDoc, SearchIndex, SearchOptions } from "./search-index.ts";
import { VisibleIndexes } from "./visible-indexes.ts";

export interface FindOptions extends Pick<SearchOptions, "kind" | "limit" | "filter"> {
  /** Whose view is searched. */
  readonly viewer: Viewer;
}

export interface CatalogSearch {
  /** Returns the exposed names of the hits, best first. */
  find(query: string, options: FindOptions): Promise<string[]>;
  close(): void;
}

/** A scan of this many entries takes a few milliseconds. */
const MANY_PENDING = 500;
/** The longest wait: a server that changes constantly must not block a search forever. */
const SETTLE_MS = 5000;

/** The index is filled as soon as the gateway's own tools search, or somebody does. */
export function feedSearch(
  catalog: Catalog,
  index: SearchIndex,
  searches: (own: readonly Definition[]) => boolean = () => true,
): CatalogSearch {
  const common = new FedIndex(index);
  const visible = new VisibleIndexes();
  /** Counts snapshots. The index knows those up to `taken`. */
  let version = 1;
  let taken = 0;
  let running = false;
  let needed = false;
  let closed = false;
  let waiting: (() => void)[] = [];

  async function run(): Promise<void> {
    running = true;
    while (taken < version && !closed) {
      await nextTurn();
      const { snapshot } = catalog;
      needed ||= searches(snapshot.local);
      if (!needed) break;
      const current = version;
      if (!(await common.follow(snapshot, () => closed))) break;
      taken = current;
      wake();
    }
    running = false;
  }

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  }

  function start(): void {
    if (!running && !closed) void run();
  }

  const changed = (): void => {
    version++;
    start();
  };
  catalog.on("swap", changed);
  start();

  return {
    async find(query, { viewer, ...options }) {
      await catalog.caughtUp();
      await catalog.ready(viewer);
      needed = true;
      start();
      // Wait only for the current version: a server that changes constantly must not block a
      // search.
      const wanted = version;
      while (taken < wanted && !closed) await new Promise<void>((resolve) => waiting.push(resolve));
      const { visibility } = viewer;
      const shown = catalog.view({ key: "", visibility });
      const searched = visibility && shown !== catalog.snapshot ? await visible.of(visibility.key, shown) : index;
      if (searched.pending > MANY_PENDING) await withTimeout(searched.settled(), SETTLE_MS, undefined);
      const narrowed = narrowedTo(viewer, shown, options);
      return searched.search(query, { ...options, ...narrowed }).map(({ key }) => nameIn(key));
    },
    close() {
      closed = true;
      catalog.off("swap", changed);
      index.close();
      visible.close();
      wake();
    },
  };

  /**
   * An index is shared by all clients with one visibility, and may be newer than `shown`. What is
   * not in the client's view is left out before hits are counted. What only it sees, in lists of
   * its own, is scanned.
   */
  function narrowedTo(
    viewer: Viewer,
    shown: Snapshot,
    { kind, filter }: SearchOptions,
  ): Pick<SearchOptions, "filter" | "others"> {
    const view = catalog.view(viewer);
    if (view === catalog.snapshot) return {};
    const common = new Map(shown.servers.map(({ id, lists }) => [id, lists]));
    const own = new Set(view.servers.filter(({ id, lists }) => common.get(id) !== lists).map(({ id }) => id));
    const isWanted = (doc: SearchDoc): boolean => filter === undefined || filter(doc);
    return {
      filter: (doc) => !own.has(doc.serverId) && isIn(view, doc) && isWanted(doc),
      others: own.size === 0 ? [] : [...docsOf(view, own)].filter((doc) => doc.kind === kind && isWanted(doc)),
    };
  }
}

function isIn({ tools, prompts, resources }: Snapshot, { kind, name, serverId }: SearchDoc): boolean {
  if (kind !== "resource") {
    const entry = (kind === "tool" ? tools : prompts).find(name);
    return entry?.exposed === name && entry.serverId === serverId;
  }
  const found = resources.resolve(name);
  return found.kind === "found" && found.serverId === serverId && found.via === "resource";
}
