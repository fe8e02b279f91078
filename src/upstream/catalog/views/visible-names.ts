/**
 * A combined list without the entries that a client may not see. The others keep the names that
 * they have for everybody: a name never leads to another server's entry only because its owner is
 * hidden.
 */
import { each, type Sliced } from "../../../lib/timing/slices.ts";
import type { NamedEntry, NamedList } from "../named.ts";

/**
 * `shown` returns the entry as the client sees it, which may lack arguments; undefined: not at all.
 */
export function* visibleNames(all: NamedList, shown: (entry: NamedEntry) => NamedEntry | undefined): Sliced<NamedList> {
  const entries: NamedEntry[] = [];
  const forms = new Map<NamedEntry, NamedEntry>();
  let isSame = true;
  yield* each(
    all.entries,
    (entry) => {
      const form = shown(entry);
      isSame &&= form === entry;
      if (!form) return;
      entries.push(form);
      forms.set(entry, form);
    },
    () => SHOWN_COST,
  );
  return isSame ? all : new VisibleList(all, entries, forms);
}

/** The cost of asking whether an entry is shown. */
const SHOWN_COST = 4;

class VisibleList implements NamedList {
  readonly entries: readonly NamedEntry[];
  readonly #all: NamedList;
  readonly #forms: ReadonlyMap<NamedEntry, NamedEntry>;

  constructor(all: NamedList, entries: readonly NamedEntry[], forms: ReadonlyMap<NamedEntry, NamedEntry>) {
    this.#all = all;
    this.entries = entries;
    this.#forms = forms;
  }

  find(name: string): NamedEntry | undefined {
    const entry = this.#all.find(name);
    const form = entry && this.#forms.get(entry);
    if (form) return form;
    const same = this.owners(name);
    return same.length === 1 ? same[0] : undefined;
  }

  owners(name: string): readonly NamedEntry[] {
    return this.#all.owners(name).flatMap((entry) => this.#forms.get(entry) ?? []);
  }

  claimants(name: string): readonly string[] {
    return this.#all.claimants(name);
  }
}
