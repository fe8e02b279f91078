/**
 * How much work may go into finding out whose a URI is. Templates and URIs are written by servers
 * and clients alike; whoever writes them so that it would take longer finds them unknown.
 *
 * Counted in cells: one for each character of the URI and each part of a template that it is
 * compared with.
 */

/** For one URI, over all templates and all its names. */
export const URI_CELLS = 1 << 19;
/** For all URIs of one result. */
export const RESULT_CELLS = 1 << 20;
/** A longer URI, or template, is never matched. */
export const MAX_URI_LENGTH = 8 * 1024;

export class MatchBudget {
  #left: number;
  readonly #shared: MatchBudget | undefined;

  constructor(cells: number, shared?: MatchBudget) {
    this.#left = cells;
    this.#shared = shared;
  }

  /** False: that is more than there is, and from now on there is nothing. */
  spend(cells: number): boolean {
    this.#left = cells > this.#left || this.#shared?.spend(cells) === false ? 0 : this.#left - cells;
    return this.#left > 0;
  }
}
