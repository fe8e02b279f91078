/** An index with the documents of a snapshot, brought in step with the next one in slices. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Snapshot } from "../snapshot.ts";
import { docsOf } from "./from-entries.ts";
import type { SearchDoc, SearchIndex } from "./search-index.ts";

const SLICE_MS = 4;

export class FedIndex {
  readonly index: SearchIndex;
  readonly #given = new Map<string, readonly SearchDoc[]>();

  constructor(index: SearchIndex) {
    this.index = index;
  }

  /** Touches only servers that changed. Returns false if `isOver` became true before the end. */
  async follow(snapshot: Snapshot, isOver: () => boolean): Promise<boolean> {
    const servers = await byServer(docsOf(snapshot), isOver);
    if (!servers) return false;
    for (const id of this.#given.keys()) if (!servers.has(id)) this.#give(id, []);
    for (const [id, docs] of servers) this.#give(id, docs);
    return true;
  }

  #give(serverId: string, docs: readonly SearchDoc[]): void {
    if (sameDocs(this.#given.get(serverId) ?? [], docs)) return;
    if (docs.length === 0) this.#given.delete(serverId);
    else this.#given.set(serverId, docs);
    this.index.replaceServer(serverId, docs);
  }
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
