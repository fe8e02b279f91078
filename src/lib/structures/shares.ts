/**
 * A limited number of places, shared so that no holder can take all of them: each may hold at most
 * half, rounded up, of what the others leave. A holder that floods gets half of the places, the
 * second one a quarter, the third one an eighth, so a new holder finds a place.
 *
 * A holder without places takes no memory.
 */
export class Shares {
  readonly #held = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /** Takes one of `places` places, or more; returns false if the holder has its share already. */
  take(holder: string, places: number, count = 1): boolean {
    const own = this.of(holder) + count;
    if (!isInShare(own - 1, places - this.#total)) return false;
    this.#held.set(holder, own);
    this.#total += count;
    return true;
  }

  giveBack(holder: string, count = 1): void {
    const own = this.of(holder);
    if (own > count) this.#held.set(holder, own - count);
    else this.#held.delete(holder);
    this.#total -= count;
  }
}

/** Whether a holder of `own` places may take one of the `free` ones. */
export function isInShare(own: number, free: number): boolean {
  return own < free;
}
