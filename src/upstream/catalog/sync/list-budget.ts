/**
 * Limits the memory for one server's lists: a number of bytes for all of them together.
 *
 * A page is charged by its raw size before it is parsed, and each entry for its estimated overhead.
 * A list's charge is refunded when the list is fetched again. If the old list stays, its charge is
 * restored.
 */
import type { ListKind } from "../../../mcp/protocol/methods.ts";

/**
 * The estimated overhead of an entry: its parsed value and its places in the look-up and search
 * tables.
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

  /**
   * Resets the list's charge and returns the old one, for `restore` if the new list is not kept.
   */
  begin(kind: ListKind): number {
    const before = this.#paid.get(kind) ?? 0;
    this.#paid.set(kind, 0);
    return before;
  }

  restore(kind: ListKind, paid: number): void {
    this.#paid.set(kind, paid);
  }

  /** Charges a page. Returns false and charges nothing if the budget does not suffice. */
  page(kind: ListKind, bytes: number): boolean {
    return this.#charge(kind, bytes);
  }

  /** Charges as many entries as fit and returns their number. */
  entries(kind: ListKind, count: number): number {
    const room = Math.max(0, Math.floor((this.#limit() - this.#total()) / ENTRY_BYTES));
    const taken = Math.min(room, count);
    this.#charge(kind, taken * ENTRY_BYTES);
    return taken;
  }

  #charge(kind: ListKind, bytes: number): boolean {
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
