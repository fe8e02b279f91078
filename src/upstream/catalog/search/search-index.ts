/**
 * The search index behind the meta tools, with one part for each kind of entry: tools, prompts,
 * resources, templates.
 *
 * Documents come and go by server. Changes are queued and processed in slices of a few milliseconds
 * between events, never within a request. A query combines the index with a plain scan of the
 * queue. So a new entry is found at once, and a removed one is never returned.
 *
 * Invariants: `live` is the truth. `dirty` has every key whose indexed state differs from it. The
 * results of a settled index depend on `live` alone, not on the order of changes.
 */

import { type SearchDoc, type SearchKind, sameDoc } from "./document.ts";
import { parseQuery } from "./query.ts";
import { type Found, rank } from "./rank.ts";
import { createScan } from "./scan.ts";
import { createTermIndex, type TermIndex } from "./terms.ts";

export type { SearchArg, SearchDoc, SearchKind } from "./document.ts";

export interface SearchOptions {
  readonly kind: SearchKind;
  readonly limit?: number;
  readonly filter?: ((doc: SearchDoc) => boolean) | undefined;
  /** Documents of this kind that the index does not have; they are scanned one by one. */
  readonly others?: readonly SearchDoc[] | undefined;
}

export interface SearchHit {
  readonly key: string;
  /** Comparable only within one result. */
  readonly score: number;
}

export interface SearchIndex {
  /** Replaces the documents of the server. Only the differences are touched. */
  replaceServer(serverId: string, docs: readonly SearchDoc[]): void;
  /** Returns the best hits first, equal scores by name; without words, everything by name. */
  search(query: string, options: SearchOptions): SearchHit[];
  /** The number of known documents, indexed or not. */
  readonly size: number;
  /** The number of documents that are not indexed yet; a query scans them one by one. */
  readonly pending: number;
  /** Resolves when all documents are indexed, or the index is closed. */
  settled(): Promise<void>;
  close(): void;
}

/**
 * Longer slices index faster; shorter ones leave more time for calls. Garbage collection adds to
 * both.
 */
const SLICE_MS = 3;

interface KindIndex {
  readonly terms: TermIndex;
  /** The indexed state of each document. */
  readonly indexed: Map<string, SearchDoc>;
}

export function createSearchIndex(): SearchIndex {
  const live = new Map<string, SearchDoc>();
  const servers = new Map<string, Set<string>>();
  const kinds: Record<SearchKind, KindIndex> = {
    tool: createKindIndex(),
    prompt: createKindIndex(),
    resource: createKindIndex(),
    template: createKindIndex(),
  };
  const dirty = new Map<string, SearchKind>();
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Immediate | undefined;
  let closed = false;

  function work(): void {
    timer = undefined;
    const until = performance.now() + SLICE_MS;
    for (const [key, kind] of dirty) {
      dirty.delete(key);
      bringUpToDate(kinds[kind], key, live.get(key));
      if (performance.now() > until) break;
    }
    if (dirty.size > 0) timer = setImmediate(work);
    else release();
  }

  function release(): void {
    const done = waiting;
    waiting = [];
    for (const resolve of done) resolve();
  }

  function touch(key: string, kind: SearchKind): void {
    dirty.set(key, kind);
    timer ??= setImmediate(work);
  }

  function replaceServer(serverId: string, docs: readonly SearchDoc[]): void {
    if (closed) return;
    const before = servers.get(serverId) ?? new Set<string>();
    const after = new Set<string>();
    for (const doc of docs) {
      after.add(doc.key);
      const known = live.get(doc.key);
      if (known !== undefined && sameDoc(known, doc)) continue;
      live.set(doc.key, doc);
      touch(doc.key, doc.kind);
    }
    for (const key of before) {
      const gone = after.has(key) ? undefined : live.get(key);
      if (gone === undefined) continue;
      live.delete(key);
      touch(key, gone.kind);
    }
    if (after.size > 0) servers.set(serverId, after);
    else servers.delete(serverId);
  }

  function search(query: string, options: SearchOptions): SearchHit[] {
    const { kind, limit = Number.POSITIVE_INFINITY, filter, others = [] } = options;
    const index = kinds[kind];
    const found: Found[] = [];
    const terms = parseQuery(query, (word) => index.terms.has(word));
    const take = (doc: SearchDoc | undefined, score: number) => {
      if (doc !== undefined && (filter === undefined || filter(doc))) found.push({ doc, score });
    };
    if (terms.length === 0) {
      for (const doc of live.values()) if (doc.kind === kind) take(doc, 0);
      for (const doc of others) found.push({ doc, score: 0 });
    } else {
      for (const { doc, score } of index.terms.match(terms)) if (!dirty.has(doc.key)) take(doc, score);
      // The index's vocabulary says nothing about documents that are not indexed yet.
      const scan = createScan(parseQuery(query, () => false));
      for (const [key, dirtyKind] of dirty) {
        const doc = dirtyKind === kind ? live.get(key) : undefined;
        const score = doc === undefined ? 0 : scan(doc);
        if (score > 0) take(doc, score);
      }
      for (const doc of others) {
        const score = scan(doc);
        if (score > 0) found.push({ doc, score });
      }
    }
    // Scores of texts that are not indexed yet are too coarse for it.
    const hasLaterFloor = dirty.size === 0;
    return rank(found, { query, limit, hasLaterFloor }).map(({ doc, score }) => ({ key: doc.key, score }));
  }

  return {
    replaceServer,
    search,
    get size() {
      return live.size;
    },
    get pending() {
      return dirty.size;
    },
    settled: () => (dirty.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close() {
      closed = true;
      if (timer !== undefined) clearImmediate(timer);
      timer = undefined;
      live.clear();
      dirty.clear();
      servers.clear();
      release();
    },
  };
}

function createKindIndex(): KindIndex {
  return { terms: createTermIndex(), indexed: new Map() };
}

function bringUpToDate({ terms, indexed }: KindIndex, key: string, doc: SearchDoc | undefined): void {
  const old = indexed.get(key);
  if (old === doc) return;
  if (old !== undefined) {
    terms.remove(old);
    indexed.delete(key);
  }
  if (doc !== undefined) {
    terms.add(doc);
    indexed.set(key, doc);
  }
}
