/**
 * Members of an object that a search looks for, and where it found them. One object serves all
 * searches for the same keys: nothing is allocated for a message, and nothing awaits between a
 * search and the reading of its places.
 */
import type { Span } from "./json-text.ts";

export class Wanted {
  readonly keys: readonly string[];
  /** The member of an outer object that the keys are in, if they are looked for there. */
  readonly parent: string | undefined;
  readonly #places: Int32Array;
  /** The first key that occurred twice. The search ends there. */
  twice: string | undefined;
  /** A value whose end need not be searched. Set before each search where there may be one. */
  known: Span | undefined;

  constructor(keys: readonly string[], parent?: string) {
    this.keys = keys;
    this.parent = parent;
    this.#places = new Int32Array(2 * keys.length);
  }

  /** Where the value of `keys[k]` starts; -1 if it is missing. */
  start(k: number): number {
    return this.#places[2 * k]!;
  }

  end(k: number): number {
    return this.#places[2 * k + 1]!;
  }

  clear(): void {
    this.#places.fill(-1);
    this.twice = undefined;
  }

  /** Returns false if the key was found before. */
  found(k: number, start: number, end: number): boolean {
    if (this.#places[2 * k] !== -1) {
      this.twice = this.keys[k];
      return false;
    }
    this.#places[2 * k] = start;
    this.#places[2 * k + 1] = end;
    return true;
  }
}
