/**
 * The views of clients that do not see everything: one for each visibility, made when somebody
 * looks at it, and shared by all clients with that visibility.
 *
 * `ready` builds a view in slices, so a client that waits for one holds up no other. `of` builds it
 * at once if it must. The number of kept views is bounded: the least recently used is dropped, and
 * built again if it is needed.
 */

import { finish, inSlices } from "../../../lib/timing/slices.ts";
import type { Visibility } from "../../../mcp/protocol/principal.ts";
import { type ServerView, type Snapshot, withStandings } from "../snapshot.ts";
import { visibleSnapshot } from "./visible-snapshot.ts";

interface Kept {
  readonly base: Snapshot;
  readonly view: Snapshot;
  /** When it was used last, on the clock of `#uses`. */
  used: number;
}

interface Build {
  readonly base: Snapshot;
  readonly done: Promise<void>;
}

export const MAX_VIEWS = 64;

export class VisibleViews {
  #common: Snapshot;
  readonly #kept = new Map<string, Kept>();
  readonly #builds = new Map<string, Build>();
  /** Tells apart what clients with lists of their own see before anything is left out. */
  readonly #numbers = new WeakMap<Snapshot, number>();
  #count = 0;
  #uses = 0;

  constructor(common: Snapshot) {
    this.#common = common;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** `base`: what the client would see without its visibility. */
  of(base: Snapshot, visibility: Visibility): Snapshot {
    const key = this.#keyOf(base, visibility);
    const kept = this.#kept.get(key);
    if (kept?.base === base) {
      kept.used = ++this.#uses;
      return kept.view;
    }
    const view = finish(visibleSnapshot(base, visibility));
    this.#keep(key, base, view);
    return view;
  }

  /** Resolves when the view is built. Undefined: it is. */
  ready(base: Snapshot, visibility: Visibility): Promise<void> | undefined {
    const key = this.#keyOf(base, visibility);
    if (this.#kept.get(key)?.base === base) return undefined;
    const running = this.#builds.get(key);
    if (running?.base === base) return running.done;
    const done = inSlices(visibleSnapshot(base, visibility)).then((view) => {
      if (this.#builds.get(key)?.base === base) this.#builds.delete(key);
      // A caller that could not wait may have built it meanwhile.
      if (this.#kept.get(key)?.base !== base) this.#keep(key, base, view);
    });
    this.#builds.set(key, { base, done });
    return done;
  }

  /** The common snapshot is another one. Views of the last one are of no use any more. */
  renew(common: Snapshot): void {
    this.#common = common;
    for (const [key, { base }] of this.#kept) if (this.#numbers.has(base)) this.#kept.delete(key);
  }

  /** Only standings changed: the views change with them, and nothing is built. */
  restand(common: Snapshot, configured: readonly ServerView[]): void {
    const before = this.#common;
    this.renew(common);
    for (const [key, { base, view, used }] of this.#kept) {
      if (base === before) this.#kept.set(key, { base: common, view: withStandings(view, configured), used });
    }
  }

  #keyOf(base: Snapshot, { key }: Visibility): string {
    if (base === this.#common) return key;
    let number = this.#numbers.get(base);
    if (number === undefined) {
      number = ++this.#count;
      this.#numbers.set(base, number);
    }
    return `${key} ${number}`;
  }

  #keep(key: string, base: Snapshot, view: Snapshot): void {
    this.#kept.set(key, { base, view, used: ++this.#uses });
    if (this.#kept.size <= MAX_VIEWS) return;
    let oldest = key;
    let least = this.#uses;
    for (const [other, { used }] of this.#kept) {
      if (used >= least) continue;
      oldest = other;
      least = used;
    }
    this.#kept.delete(oldest);
  }
}
