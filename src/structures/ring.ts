/** A fixed-size ring buffer. */
export class Ring<T> {
  readonly #size: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** Returns the items, oldest first. */
  items(): T[] {
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)];
  }
}
