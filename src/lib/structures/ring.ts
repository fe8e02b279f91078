/** A fixed-size ring buffer: a new item takes the place of the oldest. */
export class Ring<T> {
  readonly capacity: number;
  readonly #places: (T | undefined)[] = [];
  #oldest = 0;
  #length = 0;

  /** `capacity`: at least 1. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.capacity) this.shift();
    this.#places[this.#at(this.#length)] = item;
    this.#length++;
  }

  /** Removes the oldest item. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#places[this.#oldest];
    this.#places[this.#oldest] = undefined;
    this.#oldest = this.#at(1);
    this.#length--;
    return item;
  }

  /** Returns the items, oldest first. */
  items(): T[] {
    return Array.from({ length: this.#length }, (_, index) => this.#places[this.#at(index)] as T);
  }

  /** The place of an item; the oldest is item 0. */
  #at(index: number): number {
    const place = this.#oldest + index;
    return place < this.capacity ? place : place - this.capacity;
  }
}
