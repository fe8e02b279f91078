/**
 * Fetches one server's lists, and fetches them again when the server announces a change.
 *
 * Changes announced during a fetch, or soon after it, cause one more fetch, however many there are.
 * The pause before each fetch grows while announcements continue. A server that announces a change
 * with every list is therefore ready after the first fetch, and then asked rarely. If its lists
 * really changed, the pause is shorter, the more so the fewer entries it has.
 *
 * Invariants: a failed fetch keeps the known list. A server is only asked for lists whose
 * capability it declares.
 */

import { Pace } from "../../../lib/timing/pace.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { OnLimit } from "../../../mcp/protocol/limit-exceeded.ts";
import { type ChangeKind, type ListKind, listMethods } from "../../../mcp/protocol/methods.ts";
import { type Definition, emptyLists, hintsOf, type ServerLists, sameDefinitions, setHints } from "../definitions.ts";
import { type FetchedList, fetchList, ListRefused } from "./fetch-list.ts";
import { ListBudget } from "./list-budget.ts";

export interface SyncLimits {
  readonly catalogBytes: number;
  readonly definitionBytes: number;
}

export interface SyncOptions {
  /** Sends a request to the server; `params` is raw JSON. */
  readonly request: (method: string, params: string) => Promise<Answer>;
  readonly declares: (capability: string) => boolean;
  readonly update: (lists: ServerLists) => void;
  /** Turns what the server has into what clients get. Undefined: that is the same. */
  readonly admit?: ((lists: ServerLists) => Promise<ServerLists>) | undefined;
  /** The server announced changes after a quiet time, but these lists are the same as before. */
  readonly announced?: (kinds: readonly ChangeKind[]) => void;
  readonly failed: (method: string, error: unknown) => void;
  /** Reports why a list is incomplete, or undefined if it is complete. */
  readonly reduced: (method: string, why: string | undefined) => void;
  readonly limits: () => SyncLimits;
  readonly onLimit: OnLimit;
  readonly known: ServerLists;
  /** Called after each round of fetching, with its duration. */
  readonly synced?: (ms: number) => void;
}

interface Round {
  readonly kinds: Set<ListKind>;
  readonly announced: Set<ChangeKind>;
  /** Whether the known lists must be admitted again. */
  isReadmitting: boolean;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/**
 * The longest pause after a real change, and the number of entries that add a millisecond to it.
 */
const CHANGED_MS = 200;
const ENTRIES_PER_MS = 5;

const methodsByKind = [...listMethods].map(([method, spec]) => ({ method, ...spec }));
type ListMethod = (typeof methodsByKind)[number];

export class Sync {
  readonly #options: SyncOptions;
  readonly #budget: ListBudget;
  readonly #pace = new Pace();
  #lists: ServerLists;
  /** The round under way, and the one after it. */
  #current: Round | undefined;
  #next: Round | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the round under way was the first after a quiet time. */
  #isQuiet = false;
  #closed = false;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#lists = options.known;
    this.#budget = new ListBudget(() => options.limits().catalogBytes);
  }

  /** Fetches all lists. Resolves when each of them was fetched or has failed once. */
  all(): Promise<void> {
    return this.#mark(["tools", "prompts", "resources", "templates"]);
  }

  changed(kind: ChangeKind): Promise<void> {
    const ended = this.#mark(listsOf(kind));
    this.#next?.announced.add(kind);
    return ended;
  }

  /** Other things are admitted now than before. */
  readmit(): Promise<void> {
    const ended = this.#mark([]);
    if (this.#next) this.#next.isReadmitting = true;
    return ended;
  }

  /** All that the server has. */
  get lists(): ServerLists {
    return this.#lists;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#next?.end();
  }

  #mark(kinds: readonly ListKind[]): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const isFirst = this.#next === undefined;
    this.#next ??= newRound();
    for (const kind of kinds) this.#next.kinds.add(kind);
    const { ended } = this.#next;
    if (isFirst && !this.#current) this.#schedule();
    return ended;
  }

  #schedule(): void {
    const waitMs = this.#pace.begin();
    this.#isQuiet = waitMs === 0;
    // Deferred, so that announcements in the same chunk of the stream join the same round.
    if (waitMs === 0) queueMicrotask(() => void this.#run());
    else this.#timer = setTimeout(() => void this.#run(), waitMs).unref();
  }

  async #run(): Promise<void> {
    const round = this.#next;
    if (!round || this.#closed) return;
    this.#next = undefined;
    this.#current = round;
    const started = performance.now();
    const isQuiet = this.#isQuiet;
    const before = this.#lists;
    const changed = await this.#fetchAll(round);
    const same = [...round.announced].filter((kind) =>
      listsOf(kind).every((list) => this.#lists[list] === before[list]),
    );
    if (isQuiet && same.length > 0 && !this.#closed) this.#options.announced?.(same);
    this.#options.synced?.(performance.now() - started);
    this.#pace.ended(changed ? CHANGED_MS + this.#entries / ENTRIES_PER_MS : undefined);
    this.#current = undefined;
    round.end();
    if (this.#next && !this.#closed) this.#schedule();
  }

  get #entries(): number {
    return Object.values(this.#lists).reduce((sum, list) => sum + list.length, 0);
  }

  /** Returns whether any list changed. */
  async #fetchAll({ kinds, isReadmitting }: Round): Promise<boolean> {
    const wanted = methodsByKind.filter(({ kind }) => kinds.has(kind));
    const fetched = await Promise.all(wanted.map(async (method) => ({ method, list: await this.#fetch(method) })));
    if (this.#closed) return false;
    const next: Record<ListKind, readonly Definition[]> = { ...this.#lists };
    let changed = false;
    for (const { method, list } of fetched) {
      if (!list) continue;
      this.#options.reduced(method.method, reductionOf(list, this.#options.limits()));
      const known = next[method.kind];
      if (sameDefinitions(known, list.definitions)) {
        if (known.length > 0) setHints(known, hintsOf(list.definitions));
        continue;
      }
      next[method.kind] = list.definitions;
      changed = true;
    }
    if (!changed && !isReadmitting && this.#lists !== emptyLists) return false;
    this.#lists = next;
    const { admit, update } = this.#options;
    const admitted = admit ? await admit(next) : next;
    if (!this.#closed) update(admitted);
    return changed;
  }

  async #fetch(list: ListMethod): Promise<FetchedList | undefined> {
    const { request, declares, limits, onLimit, failed } = this.#options;
    const budget = this.#budget;
    const before = budget.begin(list.kind);
    if (!declares(list.capability)) return NOTHING;
    try {
      const fetched = await fetchList(list, { request, budget, definitionBytes: limits().definitionBytes });
      if (fetched.cut !== undefined) onLimit("catalogBytes");
      for (const { why } of fetched.leftOut) if (why === "too large") onLimit("definitionBytes");
      return fetched;
    } catch (error) {
      // Servers that declare resources often have no templates method; that is an empty list, not a
      // fault.
      if (
        list.kind === "templates" &&
        error instanceof ListRefused &&
        error.rpcCode === errorTable.METHOD_NOT_FOUND.rpc
      )
        return NOTHING;
      budget.restore(list.kind, before);
      if (!this.#closed) failed(list.method, error);
      return undefined;
    }
  }
}

const NOTHING: FetchedList = { definitions: [], leftOut: [], cut: undefined };

function newRound(): Round {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { kinds: new Set(), announced: new Set(), isReadmitting: false, ended, end };
}

function listsOf(kind: ChangeKind): readonly ListKind[] {
  return kind === "resources" ? ["resources", "templates"] : [kind];
}

/** Describes the missing part of a list. */
function reductionOf({ leftOut, cut }: FetchedList, { definitionBytes }: SyncLimits): string | undefined {
  const [first] = leftOut;
  if (!first) return cut;
  const reason =
    first.why === "too large"
      ? `it is too large (definitionBytes is ${definitionBytes}); let the server shorten it`
      : "it is nested deeper than common JSON readers go";
  const more = leftOut.length > 1 ? ` and ${leftOut.length - 1} more` : "";
  const without = `"${first.name}"${more} left out: ${reason}`;
  return cut === undefined ? without : `${without}; ${cut}`;
}
