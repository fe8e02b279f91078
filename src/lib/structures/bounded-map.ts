/** Maps and sets of bounded size: what is one too many drops the oldest. */

/** A key that is set again keeps its age; delete it first to make it the newest. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;
  readonly #dropped: ((key: K, value: V) => void) | undefined;

  /** `dropped` gets each entry that had to make room. */
  constructor(max: number, dropped?: (key: K, value: V) => void) {
    super();
    this.#max = max;
    this.#dropped = dropped;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    if (this.size <= this.#max) return this;
    const [[oldest, old]] = this as unknown as [[K, V]];
    this.delete(oldest);
    this.#dropped?.(oldest, old);
    return this;
  }
}

/** A value that is added again keeps its age. */
export class BoundedSet<T> extends Set<T> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override add(value: T): this {
    super.add(value);
    if (this.size > this.#max) this.delete(this.values().next().value as T);
    return this;
  }
}
