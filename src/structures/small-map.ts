/**
 * A map for few entries that come and go all the time, such as the requests under way on one
 * connection.
 *
 * Not a `Map`: V8 makes a new table for a Map every few dozen additions and links the old one to
 * it, so that a table which has reached the old generation keeps all later tables, and whatever was
 * in them, alive until a full collection. Seen under load: with Maps a third of what each minor
 * collection looked at was promoted; with arrays, over stdio servers, next to nothing. Looking up
 * is linear; the entries are as many as the limits on requests in flight allow.
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
    // By hand: `copyWithin` asks of each element whether it is there, `splice` makes an array of
    // what it takes out.
    for (let i = at + 1; i < keys.length; i++) {
      keys[i - 1] = keys[i]!;
      values[i - 1] = values[i]!;
    }
    keys.pop();
    values.pop();
    return true;
  }

  /** Copies, oldest first: what they are used for may change the map. */
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
