/**
 * How many edits lie between two words: insertions, deletions, replacements and swaps of
 * neighbours, one each.
 *
 * Computed within a band around the diagonal, so that ten thousand names cost milliseconds: what is
 * above the limit is infinite.
 */
const FIRST_ROW = 128;

/** One function for many comparisons; it reuses its three rows. */
export function createEditDistance(): (a: string, b: string, limit: number) => number {
  let before = new Uint16Array(FIRST_ROW + 1);
  let last = new Uint16Array(FIRST_ROW + 1);
  let next = new Uint16Array(FIRST_ROW + 1);

  return (a, b, limit) => {
    const bound = Math.floor(limit);
    const far = bound + 1;
    if (bound < 0 || Math.abs(a.length - b.length) > bound) return Number.POSITIVE_INFINITY;
    if (b.length >= last.length) {
      before = new Uint16Array(b.length + 1);
      last = new Uint16Array(b.length + 1);
      next = new Uint16Array(b.length + 1);
    }
    for (let column = 0; column <= b.length; column++) last[column] = Math.min(column, far);
    for (let row = 1; row <= a.length; row++) {
      const from = Math.max(1, row - bound);
      const to = Math.min(b.length, row + bound);
      next.fill(far, 0, b.length + 1);
      next[0] = Math.min(row, far);
      let least = from === 1 ? (next[0] as number) : far;
      const letter = a.charCodeAt(row - 1);
      for (let column = from; column <= to; column++) {
        const other = b.charCodeAt(column - 1);
        let cost = (last[column - 1] as number) + (letter === other ? 0 : 1);
        cost = Math.min(cost, (last[column] as number) + 1, (next[column - 1] as number) + 1);
        if (row > 1 && column > 1 && letter === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === other) {
          cost = Math.min(cost, (before[column - 2] as number) + 1);
        }
        next[column] = Math.min(cost, far);
        if (cost < least) least = cost;
      }
      if (least > bound) return Number.POSITIVE_INFINITY;
      [before, last, next] = [last, next, before];
    }
    const cost = last[b.length] as number;
    return cost > bound ? Number.POSITIVE_INFINITY : cost;
  };
}
