/**
 * The search over the catalog: keeps the index in step with it, off the request path and only for the servers that changed.
 *
 * Documents are made in slices of a few milliseconds between events. A search waits until the index knows of everything in the newest
 * snapshot, so that what a client has been told of is found, indexed or not; nobody else waits for anything.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Catalog } from "./catalog.ts";
import type { SearchDoc, SearchIndex, SearchOptions } from "./search.ts";
import { docsByServer, type MakeDoc, nameIn } from "./search-entries.ts";

export interface CatalogSearch {
  /** The exposed names of what was found, best first. */
  find(query: string, options: SearchOptions): Promise<string[]>;
  close(): void;
}

const SLICE_MS = 4;

export function feedSearch(catalog: Catalog, index: SearchIndex): CatalogSearch {
  const given = new Map<string, readonly SearchDoc[]>();
  let stale = true;
  let closed = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    await nextTurn();
    while (stale && !closed) {
      const { snapshot } = catalog;
      stale = false;
      const servers = docsByServer(snapshot);
      for (const id of given.keys()) if (!servers.has(id)) give(id, []);
      for (const [id, makers] of servers) {
        const docs = await makeSliced(makers, () => stale || closed);
        if (!docs) break;
        give(id, docs);
      }
    }
    running = undefined;
  }

  function give(serverId: string, docs: readonly SearchDoc[]): void {
    if (sameDocs(given.get(serverId) ?? [], docs)) return;
    if (docs.length === 0) given.delete(serverId);
    else given.set(serverId, docs);
    index.replaceServer(serverId, docs);
  }

  const changed = (): void => {
    stale = true;
    if (!closed) running ??= run();
  };
  catalog.on("swap", changed);
  changed();

  return {
    async find(query, options) {
      // Reading the snapshot reports changes that were still waiting for their turn.
      void catalog.snapshot;
      while (running) await running;
      return index.search(query, options).map(({ key }) => nameIn(key));
    },
    close() {
      closed = true;
      catalog.off("swap", changed);
      index.close();
    },
  };
}

/** The documents, or undefined if they are not wanted any more. */
async function makeSliced(makers: readonly MakeDoc[], isOver: () => boolean): Promise<SearchDoc[] | undefined> {
  const docs: SearchDoc[] = [];
  let until = performance.now() + SLICE_MS;
  for (const make of makers) {
    docs.push(make());
    if (performance.now() < until) continue;
    await nextTurn();
    if (isOver()) return undefined;
    until = performance.now() + SLICE_MS;
  }
  return docs;
}

function sameDocs(a: readonly SearchDoc[], b: readonly SearchDoc[]): boolean {
  return a.length === b.length && a.every((doc, i) => doc === b[i]);
}
