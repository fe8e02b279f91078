/**
 * How much of one server's lists is kept: bytes for all of its lists together, whatever they are
 * made of.
 *
 * A page is paid for as it came, before it is parsed, and each entry besides for what the gateway
 * makes of it. What a list has paid is given back when it is fetched anew, or when the list that
 * was known before stays.
 */
import type { ListKind } from "../../protocol/methods.ts";

/**
 * About what an entry takes besides its text: the parsed value, and its places in the tables by
 * which it is found and searched.
 */
const ENTRY_BYTES = 1000;

export class ListBudget {
  readonly #paid = new Map<ListKind, number>();
  readonly #limit: () => number;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit();
  }

  /** What the list has paid, to be set again if the list that comes now is not kept. */
  begin(kind: ListKind): number {
    const before = this.#paid.get(kind) ?? 0;
    this.#paid.set(kind, 0);
    return before;
  }

  restore(kind: ListKind, paid: number): void {
    this.#paid.set(kind, paid);
  }

  /** False: there is not enough left, and nothing is paid. */
  page(kind: ListKind, bytes: number): boolean {
    return this.#resync(kind, bytes);
  }

  /** How many of so many entries there is room for. */
  entries(kind: ListKind, count: number): number {
    const room = Math.max(0, Math.floor((this.#limit() - this.#total()) / ENTRY_BYTES));
    const taken = Math.min(room, count);
    this.#resync(kind, taken * ENTRY_BYTES);
    return taken;
  }

  #resync(kind: ListKind, bytes: number): boolean {
    if (this.#total() + bytes > this.#limit()) return false;
    this.#paid.set(kind, (this.#paid.get(kind) ?? 0) + bytes);
    return true;
  }

  #total(): number {
    let total = 0;
    for (const paid of this.#paid.values()) total += paid;
    return total;
  }
}
