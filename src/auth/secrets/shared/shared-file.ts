/**
 * A sealed file whose content other gateways have too.
 *
 * The file stays the truth of this machine, so that everything works without the shared place. A
 * change is made at the shared place first, if that answers: of two gateways that change at the
 * same time, the second one makes its change again, with what the first one left. What the place
 * did not take, because it was gone, it gets later. Changes of other processes of this machine and
 * of other gateways are noticed within a moment.
 */
import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { SealedFile } from "../sealed-file.ts";
import type { Hold, Pulled, SharedPlace } from "./shared-place.ts";
import { ahead, type BookForm, bookOf, entriesOf, forgets, newest } from "./stamped-book.ts";

export interface SharedFileOptions<Content extends object> {
  readonly sealed: SealedFile<Content>;
  readonly form: BookForm<Content>;
  readonly place: SharedPlace;
  readonly warn: (message: string) => void;
}

const LOOK_MS = 500;
/** What somebody else wrote into the place by hand is noticed, too. */
const FULL_MS = 60_000;
const MAX_TRIES = 20;
/**
 * A request that asks for what is not known yet may make the gateway look, but not all the time.
 */
const MIN_LOOK_MS = 100;

export class SharedFile<Content extends object> {
  readonly #options: SharedFileOptions<Content>;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #lookedAt = 0;
  #fullAt = 0;
  /** The file as it was when it was last compared with the place. */
  #seen = "";
  #mustSync = true;
  #complained = "";
  #closed = false;

  constructor(options: SharedFileOptions<Content>) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
    options.place.onUp(() => {
      this.#mustSync = true;
      this.#fullAt = 0;
      void this.look();
    });
  }

  /** Makes file and place equal, if one of them changed. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** The same for a request, which may come from anybody: not more often than is good. */
  async lookSoon(): Promise<void> {
    const waitMs = this.#lookedAt + MIN_LOOK_MS - performance.now();
    if (waitMs > 0) await pause(waitMs, undefined, { ref: false });
    await this.look();
  }

  /** Changes the content everywhere. `change` may run several times; its last run counts. */
  change(change: (content: Content) => Content): Promise<Content> {
    return this.#change(change, { isFull: false, mustAnswer: false });
  }

  /**
   * Runs work that only one gateway may do at a time under this name, with what the others left.
   * Without the place, the hold allows nothing that can be done once.
   */
  async exclusively<T>(name: string, work: (hold: Hold) => Promise<T>): Promise<T> {
    let hasBegun = false;
    try {
      return await this.#options.place.hold(name, async (hold) => {
        await this.#change((content) => content, { isFull: false, mustAnswer: true });
        hasBegun = true;
        return work({
          use: (thing) => hold.use(thing),
          // While the others do not know what came of it, they must leave it alone.
          used: async (thing) => (this.#mustSync ? undefined : hold.used(thing)),
        });
      });
    } catch (error) {
      if (hasBegun) throw error;
      return work(withoutPlace(messageOf(error)));
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    this.#lookedAt = performance.now();
    try {
      const isFull = this.#fullAt === 0 || performance.now() - this.#fullAt > FULL_MS;
      const hasChanged = isFull || this.#mustSync || this.#mark() !== this.#seen;
      if (!hasChanged && !(await this.#options.place.hasChanged())) return;
      await this.#change((content) => content, { isFull, mustAnswer: true });
      if (isFull) this.#fullAt = performance.now();
    } catch (error) {
      this.#mustSync = true;
      this.#complain(messageOf(error));
    }
  }

  async #change(
    change: (content: Content) => Content,
    { isFull, mustAnswer }: { readonly isFull: boolean; readonly mustAnswer: boolean },
  ): Promise<Content> {
    const { sealed } = this.#options;
    const made = await sealed.change(async (content) => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const pulled = await this.#pull(isFull && tries === 0, mustAnswer);
        const next = await this.#attempt(content, change, pulled);
        if (next) return next;
      }
      throw new Error("other replicas change the same book all the time; try again");
    });
    this.#seen = this.#mark();
    return made;
  }

  /** Returns what the file must hold; undefined: another gateway was faster. */
  async #attempt(content: Content, change: (content: Content) => Content, pulled: Pulled | undefined) {
    const { form } = this.#options;
    const now = Date.now();
    const others = pulled?.entries ?? new Map();
    const merged = newest(entriesOf(content, form, now), others, forgets(now, form.removedMs));
    const before = bookOf(merged, form);
    const changed = change(before);
    const entries = changed === before ? merged : entriesOf(changed, form, now);
    if (pulled) {
      const toPush = ahead(entries, others);
      try {
        if (toPush.size > 0 && !(await pulled.push(toPush))) return undefined;
        this.#mustSync = false;
        this.#complained = "";
      } catch (error) {
        // Whether it got there is not known. It is written again when the place is back.
        this.#mustSync = true;
        this.#complain(messageOf(error));
      }
    } else this.#mustSync = true;
    const next = bookOf(entries, form);
    return JSON.stringify(next) === JSON.stringify(content) ? content : next;
  }

  async #pull(isFull: boolean, mustAnswer: boolean): Promise<Pulled | undefined> {
    try {
      return await this.#options.place.pull({ isFull });
    } catch (error) {
      if (mustAnswer) throw error;
      return undefined;
    }
  }

  /** The place itself says when it is gone. */
  #complain(why: string): void {
    if (why === this.#complained || !this.#options.place.isUp) return;
    this.#complained = why;
    this.#options.warn(`${this.#options.sealed.file} is not shared with other replicas now: ${why}`);
  }

  #mark(): string {
    try {
      const { mtimeMs, size, ino } = statSync(this.#options.sealed.file);
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return "none";
    }
  }
}

function withoutPlace(why: string): Hold {
  const problem = `${why}, so another replica may use it at the same time`;
  return { use: async () => problem, used: async () => {} };
}
