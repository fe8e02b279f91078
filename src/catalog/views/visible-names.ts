/**
 * A combined list without the entries that a client may not see. The others keep the names that
 * they have for everybody: a name never leads to another server's entry only because its owner is
 * hidden.
 */
import { each, type Sliced } from "../../timing/slices.ts";
import type { NamedEntry, NamedList } from "../named.ts";

export function* visibleNames(all: NamedList, shows: (entry: NamedEntry) => boolean): Sliced<NamedList> {
  const entries: NamedEntry[] = [];
  yield* each(
    all.entries,
    (entry) => {
      if (shows(entry)) entries.push(entry);
    },
    () => SHOWS_COST,
  );
  return entries.length === all.entries.length ? all : new VisibleList(all, entries);
}

/** The cost of asking whether an entry is shown. */
const SHOWS_COST = 4;

class VisibleList implements NamedList {
  readonly entries: readonly NamedEntry[];
  readonly #all: NamedList;
  readonly #shown: ReadonlySet<NamedEntry>;

  constructor(all: NamedList, entries: readonly NamedEntry[]) {
    this.#all = all;
    this.entries = entries;
    this.#shown = new Set(entries);
  }

  find(name: string): NamedEntry | undefined {
    const entry = this.#all.find(name);
    if (entry && this.#shown.has(entry)) return entry;
    const same = this.owners(name);
    return same.length === 1 ? same[0] : undefined;
  }

  owners(name: string): readonly NamedEntry[] {
    return this.#all.owners(name).filter((entry) => this.#shown.has(entry));
  }

  claimants(name: string): readonly string[] {
    return this.#all.claimants(name);
  }
}
