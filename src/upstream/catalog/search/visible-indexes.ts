/**
 * The indexes of clients that do not see everything: one for each visibility, made when somebody
 * searches, and shared by all clients with that visibility. So what a client does not see, a hidden
 * argument too, can neither be found nor move what is found: not by its words, not by how rare they
 * make others.
 *
 * The number of documents in all of them is bounded: the least recently used index is dropped, and
 * made again if it is needed.
 */
import type { Snapshot } from "../snapshot.ts";
import { FedIndex } from "./fed-index.ts";
import { createSearchIndex, type SearchIndex } from "./search-index.ts";

/** Together; one larger than this is kept alone. About 2 kB each. */
const MAX_DOCS = 40_000;
const MAX_INDEXES = 64;

interface Kept {
  readonly fed: FedIndex;
  view: Snapshot | undefined;
  /** The end of the latest work on it. */
  done: Promise<void>;
}

export class VisibleIndexes {
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #closed = false;

  get size(): number {
    return this.#kept.size;
  }

  /** Resolves with the index that has the entries of this view. `key` identifies what is shown. */
  async of(key: string, view: Snapshot): Promise<SearchIndex> {
    const kept = this.#kept.get(key) ?? {
      fed: new FedIndex(createSearchIndex()),
      view: undefined,
      done: Promise.resolve(),
    };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (kept.view !== view) {
      kept.view = view;
      kept.done = kept.done.then(async () => void (await kept.fed.follow(view, () => this.#closed)));
    }
    await kept.done;
    this.#bound();
    return kept.fed.index;
  }

  close(): void {
    this.#closed = true;
    for (const { fed } of this.#kept.values()) fed.index.close();
    this.#kept.clear();
  }

  #bound(): void {
    let docs = 0;
    for (const { fed } of this.#kept.values()) docs += fed.index.size;
    for (const [key, { fed }] of this.#kept) {
      const fits = docs <= MAX_DOCS && this.#kept.size <= MAX_INDEXES;
      if (fits || this.#kept.size === 1) return;
      this.#kept.delete(key);
      docs -= fed.index.size;
      fed.index.close();
    }
  }
}
