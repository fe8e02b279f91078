/**
 * The store of pairing as a running gateway sees it: in memory, and current. Changes of other
 * processes, such as `goblin grants revoke`, arrive here.
 */
import { EventEmitter } from "node:events";
import { type ConfigWatch, watchConfig } from "../../config/watch.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { PairingBook, PairingStore } from "./store.ts";

const DEBOUNCE_MS = 20;

export class LiveBook extends EventEmitter<{ changed: [] }> {
  readonly store: PairingStore;
  readonly #warn: (message: string) => void;
  #book: PairingBook;
  #changes = 0;
  #watch: ConfigWatch | undefined;
  #catching: Promise<void> | undefined;
  #closed = false;

  private constructor(store: PairingStore, book: PairingBook, warn: (message: string) => void) {
    super();
    this.store = store;
    this.#book = book;
    this.#warn = warn;
  }

  static async open(store: PairingStore, warn: (message: string) => void): Promise<LiveBook> {
    const book = new LiveBook(store, await store.read(), warn);
    book.#watch = await watchConfig(store.path, () => void book.#load(), { debounceMs: DEBOUNCE_MS });
    // Something may have changed before the watch was in place.
    await book.#load();
    return book;
  }

  get current(): PairingBook {
    return this.#book;
  }

  async change(change: (book: PairingBook) => PairingBook): Promise<PairingBook> {
    const next = await this.store.change(change);
    this.#changes++;
    this.#take(next);
    return next;
  }

  /** Returns whether there may be something now that other replicas know and this one did not. */
  async catchUp(): Promise<boolean> {
    if (!this.store.isShared) return false;
    this.#catching ??= this.store
      .lookElsewhere()
      .then(() => this.#load())
      .finally(() => {
        this.#catching = undefined;
      });
    await this.#catching;
    return true;
  }

  close(): void {
    this.#closed = true;
    this.store.close();
    this.#watch?.close();
  }

  async #load(): Promise<void> {
    const changes = this.#changes;
    try {
      const book = await this.store.read();
      // A change of this process that ended meanwhile is newer than what was read.
      if (changes === this.#changes) this.#take(book);
    } catch (error) {
      this.#warn(`Pairing: ${messageOf(error)}`);
    }
  }

  #take(book: PairingBook): void {
    this.#book = book;
    if (!this.#closed) this.emit("changed");
  }
}
