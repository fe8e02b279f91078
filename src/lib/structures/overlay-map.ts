/**
 * An immutable map. A changed copy shares its unchanged entries.
 *
 * The cost of a change depends on the number of recent changes, not on the size of the map. Changes
 * lie over a base and are merged into a new base once there are many.
 */
export class OverlayMap<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  /** Undefined marks a deleted entry of the base. */
  readonly #changes: ReadonlyMap<K, V | undefined>;

  constructor(base: ReadonlyMap<K, V>, changes: ReadonlyMap<K, V | undefined> = new Map()) {
    this.#base = base;
    this.#changes = changes;
  }

  get(key: K): V | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#base.get(key);
  }

  /** Returns a copy with these changes; undefined deletes an entry. */
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
