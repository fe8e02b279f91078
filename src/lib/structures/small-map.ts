/**
 * A map for few, short-lived entries, for example the requests in flight on one connection.
 *
 * It does not use `Map`: V8 gives a Map a new table every few dozen additions and links the old
 * table to it. Once an old table reaches the old generation, it keeps all later tables and their
 * contents alive until a full collection. Measured under load: with Maps, minor collections
 * promoted a third of the objects they visited; with arrays and stdio servers, almost nothing.
 * Look-up is linear, and limits on requests in flight bound the size.
 */
export class SmallMap<K, V> {
  readonly #keys: K[] = [];
  readonly #values: V[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: K): V | undefined {
    const at = this.#keys.indexOf(key);
    return at === -1 ? undefined : this.#values[at];
  }

  has(key: K): boolean {
    return this.#keys.includes(key);
  }

  set(key: K, value: V): void {
    const at = this.#keys.indexOf(key);
    if (at === -1) {
      this.#keys.push(key);
      this.#values.push(value);
    } else this.#values[at] = value;
  }

  delete(key: K): boolean {
    const at = this.#keys.indexOf(key);
    if (at === -1) return false;
    const keys = this.#keys;
    const values = this.#values;
    // A plain loop: `copyWithin` checks each element for holes, and `splice` allocates an array.
    for (let i = at + 1; i < keys.length; i++) {
      keys[i - 1] = keys[i]!;
      values[i - 1] = values[i]!;
    }
    keys.pop();
    values.pop();
    return true;
  }

  /** Returns a copy, oldest first: callers may change the map while iterating. */
  keys(): K[] {
    return [...this.#keys];
  }

  values(): V[] {
    return [...this.#values];
  }

  clear(): void {
    this.#keys.length = 0;
    this.#values.length = 0;
  }
}
