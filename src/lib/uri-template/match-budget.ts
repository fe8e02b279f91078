/**
 * Limits the work of finding a URI's owner. Servers and clients write the templates and URIs; one
 * that would exceed the limit counts as unknown.
 *
 * The unit is a cell: one character of the URI compared with one part of a template.
 */

/** For one URI, over all templates and all its names. */
export const URI_CELLS = 1 << 19;
/** For all URIs of one result. */
export const RESULT_CELLS = 1 << 20;
/** Longer URIs and templates are never matched. */
export const MAX_URI_LENGTH = 8 * 1024;

export class MatchBudget {
  #left: number;
  readonly #shared: MatchBudget | undefined;

  constructor(cells: number, shared?: MatchBudget) {
    this.#left = cells;
    this.#shared = shared;
  }

  /** Spends cells. Returns false if too few are left; the budget is then empty for good. */
  spend(cells: number): boolean {
    this.#left = cells > this.#left || this.#shared?.spend(cells) === false ? 0 : this.#left - cells;
    return this.#left > 0;
  }
}
