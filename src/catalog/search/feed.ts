/**
 * Searches the catalog, and keeps the index in step with it: off the request path, and only for
 * servers that changed.
 *
 * Documents are made in slices of a few milliseconds between events. A search waits until the index
 * knows every entry of the newest snapshot, so that it finds everything the client was told about.
 * It also waits until most entries are indexed: scanning thousands one by one would block all other
 * requests. Nothing else waits for the index.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Viewer } from "../../protocol/principal.ts";
import { withTimeout } from "../../timing/with-timeout.ts";
import type { Catalog } from "../catalog.ts";
import type { Snapshot } from "../snapshot.ts";
import { docsOf, nameIn } from "./from-entries.ts";
import type { SearchDoc, SearchIndex, SearchOptions } from "./index.ts";

export interface FindOptions extends Pick<SearchOptions, "kind" | "limit" | "filter"> {
  /** Whose view is searched. */
  readonly viewer: Viewer;
}

export interface CatalogSearch {
  /** Returns the exposed names of the hits, best first. */
  find(query: string, options: FindOptions): Promise<string[]>;
  close(): void;
}

const SLICE_MS = 4;
/** A scan of this many entries takes a few milliseconds. */
const MANY_PENDING = 500;
/** The longest wait: a server that changes constantly must not block a search forever. */
const SETTLE_MS = 5000;

export function feedSearch(catalog: Catalog, index: SearchIndex): CatalogSearch {
  const given = new Map<string, readonly SearchDoc[]>();
  /** Counts snapshots. The index knows those up to `taken`. */
  let version = 1;
  let taken = 0;
  let running = false;
  let closed = false;
  let waiting: (() => void)[] = [];

  async function run(): Promise<void> {
    running = true;
    while (taken < version && !closed) {
      await nextTurn();
      const { snapshot } = catalog;
      const current = version;
      const servers = await byServer(docsOf(snapshot), () => closed);
      if (!servers) break;
      for (const id of given.keys()) if (!servers.has(id)) give(id, []);
      for (const [id, docs] of servers) give(id, docs);
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

  function give(serverId: string, docs: readonly SearchDoc[]): void {
    if (sameDocs(given.get(serverId) ?? [], docs)) return;
    if (docs.length === 0) given.delete(serverId);
    else given.set(serverId, docs);
    index.replaceServer(serverId, docs);
  }

  const changed = (): void => {
    version++;
    if (!running && !closed) void run();
  };
  catalog.on("swap", changed);
  void run();

  return {
    async find(query, { viewer, ...options }) {
      await catalog.caughtUp();
      await catalog.ready(viewer);
      // Wait only for the current version: a server that changes constantly must not block a
      // search.
      const wanted = version;
      while (taken < wanted && !closed) await new Promise<void>((resolve) => waiting.push(resolve));
      if (index.pending > MANY_PENDING) await withTimeout(index.settled(), SETTLE_MS, undefined);
      return index.search(query, { ...options, ...narrowedTo(viewer, options) }).map(({ key }) => nameIn(key));
    },
    close() {
      closed = true;
      catalog.off("swap", changed);
      index.close();
      wake();
    },
  };

  /**
   * There is one index for all views. What a client does not see is left out before hits are
   * counted. What only it sees, in lists of its own, is scanned.
   */
  function narrowedTo(viewer: Viewer, { kind, filter }: SearchOptions): Pick<SearchOptions, "filter" | "others"> {
    const { snapshot } = catalog;
    const view = catalog.view(viewer);
    if (view === snapshot) return {};
    const common = new Map(snapshot.servers.map(({ id, lists }) => [id, lists]));
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

/**
 * Makes the documents of each server, slice by slice. Returns undefined if `isOver` becomes true.
 */
async function byServer(
  docs: Iterable<SearchDoc>,
  isOver: () => boolean,
): Promise<Map<string, SearchDoc[]> | undefined> {
  const servers = new Map<string, SearchDoc[]>();
  let until = performance.now() + SLICE_MS;
  for (const doc of docs) {
    const known = servers.get(doc.serverId);
    if (known) known.push(doc);
    else servers.set(doc.serverId, [doc]);
    if (performance.now() < until) continue;
    await nextTurn();
    if (isOver()) return undefined;
    until = performance.now() + SLICE_MS;
  }
  return servers;
}

function sameDocs(a: readonly SearchDoc[], b: readonly SearchDoc[]): boolean {
  return a.length === b.length && a.every((doc, i) => doc === b[i]);
}
