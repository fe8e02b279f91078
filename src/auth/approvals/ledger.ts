/**
 * The file of the approvals: what was proposed, approved, executed and returned, one chained line
 * for each, in the order in which it happened. It is all that survives a restart.
 *
 * A line is written before what it says takes effect: when `append` has resolved, a process that is
 * killed leaves the line. A file that cannot be trusted is renamed, and nothing in it counts. Lines
 * that do not go to a file have the same chain.
 */
import { readFile, rename } from "node:fs/promises";
import { LineFile } from "../../lib/structures/line-file.ts";
import { Chain, type ReadLine, readChain } from "./chain.ts";

export interface LedgerHooks {
  /** Gets each line, without the shown arguments and with them. */
  readonly onLine?: ((text: string, whole: string) => void) | undefined;
  /** The first line of a new file, so that the file before it is not needed. */
  readonly summary?: (() => Readonly<Record<string, unknown>>) | undefined;
}

export interface LedgerOptions extends LedgerHooks {
  /** Undefined: nothing is kept. */
  readonly file?: string | undefined;
  readonly lines?: readonly ReadLine[];
  /** The size at which a new file is begun. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const KEPT_FILES = 3;
/** The lines that may wait for a disk that takes none. */
const MAX_WAITING = 2000;

interface Waiter {
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class Ledger {
  readonly #hooks: LedgerHooks;
  readonly #file: LineFile | undefined;
  readonly #maxBytes: number;
  readonly #chain: Chain;
  #waiting: string[] = [];
  #waiters: Waiter[] = [];
  #work: Promise<void> | undefined;
  /** How many lines could not be written the last time. */
  #unwritten = 0;

  constructor({ file, lines = [], maxBytes = MAX_BYTES, ...hooks }: LedgerOptions = {}) {
    this.#hooks = hooks;
    this.#file = file === undefined ? undefined : new LineFile(file);
    this.#maxBytes = maxBytes;
    this.#chain = new Chain(lines.at(-1));
  }

  /** Resolves when the line is written; rejects if it cannot be. The next one tries it again. */
  append(event: Readonly<Record<string, unknown>>, args?: string): Promise<void> {
    const { text, whole } = this.#chain.next({ time: new Date().toISOString(), ...event }, args);
    this.#hooks.onLine?.(text, whole);
    if (this.#file === undefined) return Promise.resolve();
    this.#waiting.push(whole);
    return new Promise((done, failed) => {
      this.#waiters.push({ done, failed });
      this.#work ??= this.#run(this.#file!);
    });
  }

  /** Whether too many lines wait for a disk that takes none: no more calls should be held. */
  get isBehind(): boolean {
    return this.#unwritten > MAX_WAITING;
  }

  /** Tries again to write the lines that wait. */
  retry(): void {
    if (this.#work || this.#file === undefined) return;
    this.#waiters.push({ done: () => {}, failed: () => {} });
    this.#work = this.#run(this.#file);
  }

  /** Resolves when nothing waits to be written. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #run(file: LineFile): Promise<void> {
    // What happens in one turn of the event loop is written together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters.splice(0);
      const batch = this.#waiting.splice(0);
      try {
        await file.open();
        if (file.bytes > this.#maxBytes) await this.#begin(file);
        const { written, error } = await file.append(batch);
        // A file that somebody moves away is begun anew.
        await file.close();
        batch.splice(0, written);
        if (batch.length > 0) throw error;
        this.#unwritten = 0;
        for (const { done } of waiters) done();
      } catch (error) {
        this.#unwritten = batch.length;
        this.#waiting = batch.concat(this.#waiting);
        for (const { failed } of waiters) failed(error);
      }
    }
    this.#work = undefined;
  }

  /** Begins a new file. Lines that wait were chained before, so the summary's place is behind. */
  async #begin(file: LineFile): Promise<void> {
    await file.rotate(KEPT_FILES);
    const { summary } = this.#hooks;
    if (summary) void this.append({ event: "continued", ...summary() }).catch(() => {});
  }
}

/** A file that was read before the approvals exist that go on with it. */
export interface OpenedLedger {
  readonly lines: readonly ReadLine[];
  readonly create: (hooks: LedgerHooks) => Ledger;
}

/** Opens the file, or begins one. */
export async function openLedger(file: string, warn: (message: string) => void): Promise<OpenedLedger> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  // A process that was killed within a line left part of it; the next line is written in its place.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const { lines, broken } = readChain(whole);
  if (broken) {
    const putAway = `${file}.broken-${Date.now()}`;
    await rename(file, putAway);
    const why = `line ${broken.line}: ${broken.problem}`;
    warn(`The approvals of ${file} do not count any more, and the file is now ${putAway}: ${why}`);
    return { lines: [], create: (hooks) => new Ledger({ file, ...hooks }) };
  }
  return { lines, create: (hooks) => new Ledger({ file, lines, ...hooks }) };
}
