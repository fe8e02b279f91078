/**
 * A map that never changes; another one with a few entries changed shares the rest with it.
 *
 * A change costs what was changed lately, not what the map holds: the changes lie over a base, and
 * are put into a new base when they have become many. What is read at one time stays as it was for
 * as long as somebody holds it.
 */
export class OverlayMap<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  /** Undefined: the base's entry is gone. */
  readonly #changes: ReadonlyMap<K, V | undefined>;

  constructor(base: ReadonlyMap<K, V>, changes: ReadonlyMap<K, V | undefined> = new Map()) {
    this.#base = base;
    this.#changes = changes;
  }

  get(key: K): V | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#base.get(key);
  }

  /** The same but for these entries; undefined takes one away. */
  with(changes: ReadonlyMap<K, V | undefined>): OverlayMap<K, V> {
    const all = new Map(this.#changes);
    for (const [key, value] of changes) all.set(key, value);
    if (all.size * 8 < this.#base.size) return new OverlayMap(this.#base, all);
    const base = new Map(this.#base);
    for (const [key, value] of all) {
      if (value === undefined) base.delete(key);
      else base.set(key, value);
    }
    return new OverlayMap(base);
  }
}
