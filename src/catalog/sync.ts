/**
 * Fetches what one server lists, page by page, and again when it says that a list has changed.
 *
 * A change that arrives while a fetch is under way causes one more fetch, however many come. A
 * fetch that fails keeps the list that was known. A server is only asked for lists whose capability
 * it declared. A server whose cursors go in circles, or never end, is stopped.
 */
import { GoblinError } from "../protocol/errors.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import { type ChangeKind, type ListKind, listMethods } from "../protocol/methods.ts";
import {
  type CacheHints,
  combineHints,
  type Definition,
  emptyLists,
  readPage,
  type ServerLists,
  sameDefinitions,
  setHints,
} from "./definitions.ts";

export interface SyncOptions {
  /** Asks the server; `params` is raw JSON. */
  readonly request: (method: string, params: string) => Promise<Answer>;
  readonly declares: (capability: string) => boolean;
  readonly update: (lists: ServerLists) => void;
  readonly failed: (method: string, error: unknown) => void;
  readonly known: ServerLists;
  /** A round of fetching has ended, after so long. */
  readonly synced?: (ms: number) => void;
}

const MAX_PAGES = 10_000;
const MAX_ENTRIES = 200_000;

const methodsByKind = Object.entries(listMethods).map(([method, spec]) => ({ method, ...spec }));

export class Sync {
  readonly #options: SyncOptions;
  #lists: ServerLists;
  #dirty = new Set<ListKind>();
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#lists = options.known;
  }

  /** Fetches everything; ends when all lists have been fetched or have failed once. */
  all(): Promise<void> {
    return this.#mark(["tools", "prompts", "resources", "templates"]);
  }

  changed(kind: ChangeKind): Promise<void> {
    return this.#mark(kind === "resources" ? ["resources", "templates"] : [kind]);
  }

  close(): void {
    this.#closed = true;
  }

  #mark(kinds: readonly ListKind[]): Promise<void> {
    for (const kind of kinds) this.#dirty.add(kind);
    const started = performance.now();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.#options.synced?.(performance.now() - started);
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#dirty.size > 0 && !this.#closed) {
      const kinds = this.#dirty;
      this.#dirty = new Set();
      const fetched = await Promise.all(methodsByKind.filter(({ kind }) => kinds.has(kind)).map((m) => this.#fetch(m)));
      if (this.#closed) return;
      const next: Record<ListKind, readonly Definition[]> = { ...this.#lists };
      let changed = false;
      for (const result of fetched) {
        if (!result || sameDefinitions(next[result.kind], result.definitions)) continue;
        next[result.kind] = result.definitions;
        changed = true;
      }
      if (changed || this.#lists === emptyLists) {
        this.#lists = next;
        this.#options.update(next);
      }
    }
  }

  async #fetch({ method, kind, member, capability }: (typeof methodsByKind)[number]) {
    if (!this.#options.declares(capability)) return { kind, definitions: [] };
    try {
      return { kind, definitions: await this.#fetchPages(method, member) };
    } catch (error) {
      // Servers that declare resources often have no templates method; that is an empty list, not a
      // fault.
      if (kind === "templates" && error instanceof ListRefused && error.rpcCode === -32601)
        return { kind, definitions: [] };
      if (!this.#closed) this.#options.failed(method, error);
      return undefined;
    }
  }

  async #fetchPages(method: string, member: string): Promise<Definition[]> {
    const all: Definition[] = [];
    const hints: CacheHints[] = [];
    const seen = new Set<string>();
    let params = "{}";
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await this.#options.request(method, params);
      if (!answer.ok) throw new ListRefused(answer.code, answer.raw);
      const { definitions, nextCursor, hints: pageHints } = readPage(answer.raw, member);
      for (const definition of definitions) all.push(definition);
      hints.push(pageHints);
      if (nextCursor === undefined) {
        setHints(all, combineHints(hints));
        return all;
      }
      if (seen.has(nextCursor))
        throw new GoblinError("BACKEND_ERROR", `${method}: the server repeats the cursor of an earlier page`);
      if (all.length > MAX_ENTRIES) break;
      seen.add(nextCursor);
      params = `{"cursor":${JSON.stringify(nextCursor)}}`;
    }
    throw new GoblinError("BACKEND_ERROR", `${method}: the list does not end (${all.length} entries so far)`);
  }
}

class ListRefused extends Error {
  readonly rpcCode: number;

  constructor(rpcCode: number, raw: string) {
    super(raw);
    this.rpcCode = rpcCode;
  }
}
