/**
 * Members of an object that a search looks for, and where it found them. One object serves all
 * searches for the same keys: nothing is allocated for a message, and nothing awaits between a
 * search and the reading of its places.
 */
import { foldWords } from "./fold-key.ts";

export interface WantedOptions {
  /** Members that are searched in the same pass if they are objects, by key. */
  readonly inner?: Readonly<Record<string, Wanted>>;
  /** Whether the search ends at a key that some reader takes for a wanted one. */
  readonly refusesLookalikes?: boolean;
}

/** A key by which two readers can find different values. */
export interface AmbiguousKey {
  /** The wanted key. */
  readonly key: string;
  /** The key as it is written, if that is another one. Undefined: the key occurs twice. */
  readonly written: string | undefined;
  /** The wanted members that it is in, outermost first. */
  readonly path: readonly string[];
}

export class Wanted {
  readonly keys: readonly string[];
  readonly #inner: readonly (Wanted | undefined)[];
  /** The wanted keys, by the form that readers may reduce them to. */
  readonly #forms: ReadonlyMap<string, string> | undefined;
  readonly #places: Int32Array;
  /** Why the last search ended early. */
  ambiguous: AmbiguousKey | undefined;

  constructor(keys: readonly string[], { inner = {}, refusesLookalikes = false }: WantedOptions = {}) {
    this.keys = keys;
    this.#inner = keys.map((key) => inner[key]);
    this.#forms = refusesLookalikes ? new Map(keys.map((key) => [foldWords(key), key])) : undefined;
    this.#places = new Int32Array(2 * keys.length);
  }

  /** Where the value of `keys[k]` starts; -1 if it is missing. */
  start(k: number): number {
    return this.#places[2 * k]!;
  }

  end(k: number): number {
    return this.#places[2 * k + 1]!;
  }

  /** What is wanted inside of the value of `keys[k]`. */
  inside(k: number): Wanted | undefined {
    return this.#inner[k];
  }

  get refusesLookalikes(): boolean {
    return this.#forms !== undefined;
  }

  clear(): void {
    this.#places.fill(-1);
    this.ambiguous = undefined;
  }

  /** Returns false if the key was found before. */
  found(k: number, start: number, end: number): boolean {
    if (this.#places[2 * k] !== -1) {
      this.ambiguous = { key: this.keys[k]!, written: undefined, path: [] };
      return false;
    }
    this.#places[2 * k] = start;
    this.#places[2 * k + 1] = end;
    return true;
  }

  /** Returns false if some reader takes this key, which is not a wanted one, for a wanted one. */
  passes(written: string): boolean {
    const key = this.#forms?.get(foldWords(written));
    if (key === undefined) return true;
    this.ambiguous = { key, written, path: [] };
    return false;
  }

  /** The search inside of the value of `keys[k]` ended early. */
  endedInside(k: number): void {
    const { key, written, path } = this.#inner[k]!.ambiguous!;
    this.ambiguous = { key, written, path: [this.keys[k]!, ...path] };
  }
}
