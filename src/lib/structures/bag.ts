/**
 * A set of objects that come and go, such as open connections and calls under way. Each knows its
 * place in it, so that adding and removing take the same time, however many there are.
 *
 * It does not use `Set`, whose tables keep alive what was removed: `SmallMap` says how. A thousand
 * connections that came and went left 3 MB behind, until a full collection.
 */
export interface Placed {
  /** Its index; -1 if it is in no bag. Only the bag changes it. */
  place: number;
}

export class Bag<T extends Placed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** Does nothing if the item was removed before. */
  delete(item: T): void {
    const { place } = item;
    if (place === -1) return;
    const last = this.#items.pop()!;
    if (last !== item) {
      this.#items[place] = last;
      last.place = place;
    }
    item.place = -1;
  }

  /** Returns a copy: callers may change the bag while iterating. */
  items(): T[] {
    return [...this.#items];
  }
}
