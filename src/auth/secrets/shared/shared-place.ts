/**
 * Where several gateways keep what all of them must have, besides their own files.
 *
 * The place may be gone at any time, may forget, and may be written to by somebody else. So every
 * entry has a stamp, and a newer one is never replaced by an older one. Nothing of an entry can be
 * read or made without the secret of the gateways.
 */

/** One entry; `text` is null for one that was removed. */
export interface Stamped {
  readonly stamp: number;
  readonly text: string | null;
}

/** For how many milliseconds it is known that an entry of this name was removed. */
export type RemovedMs = (name: string) => number;

export interface Pulled {
  /** What the place holds now, by name. */
  readonly entries: ReadonlyMap<string, Stamped>;
  /** Writes these entries, unless somebody wrote since. Resolves with whether it did. */
  push(entries: ReadonlyMap<string, Stamped>): Promise<boolean>;
}

/** The right to do one thing that no other gateway may do meanwhile. */
export interface Hold {
  /**
   * Asks for the last time before a thing is used up that can be used once. Returns why it must
   * not be used, in words; undefined: nobody else has it, or can have it for a while.
   */
  use(thing: string): Promise<string | undefined>;
  /** The thing was used, and what came of it is known to all. */
  used(thing: string): Promise<void>;
}

/** One book of entries. All methods reject without an answer. */
export interface SharedPlace {
  readonly isUp: boolean;
  /** `isFull`: reads everything again, also what seems unchanged. */
  pull(options?: { readonly isFull?: boolean }): Promise<Pulled>;
  /** Whether somebody wrote since the last pull. */
  hasChanged(): Promise<boolean>;
  /** Runs the work when no other gateway does work under this name. */
  hold<T>(name: string, work: (hold: Hold) => Promise<T>): Promise<T>;
  /** Calls back whenever the place is there, after it was not. */
  onUp(listener: () => void): void;
  /** Resolves when the place is there, or it is clear that it is not. */
  settled(): Promise<void>;
}

/** Opens a book of this name. Other purposes have other keys. */
export interface SharedPlaces {
  book(name: string, removedMs?: RemovedMs): SharedPlace;
  /** Returns a key that all gateways have, and that is good for this purpose only. */
  keyFor(purpose: string): Buffer;
}
