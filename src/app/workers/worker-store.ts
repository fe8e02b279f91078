/**
 * What workers of one gateway know in common: who is alive, by the primary process, and who takes
 * over from a worker that has ended: the one that replaces it, which has its journal.
 */
import type { Owner } from "../../cluster/owners.ts";
import type { SharedStore } from "../../cluster/store.ts";
import { numberIn } from "./socket-folder.ts";
import type { Worker } from "./worker.ts";

/** A worker that ends is replaced within that time, if it can be. */
const REPLACED_MS = 10_000;

export class WorkerStore implements SharedStore {
  /** Each worker has its own journal. */
  readonly journal = undefined;
  /** All have the same state folder. */
  readonly books = undefined;
  /** Each worker has its share of the limits. */
  readonly budgets = undefined;
  /** There is nothing that could be lost. */
  readonly isUp = undefined;
  /** These are replicas on other machines. */
  readonly members = [];
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  use(): void {}

  async holder(): Promise<undefined> {
    return undefined;
  }

  /** Fewer workers than before the last start share the sessions of all. */
  claim(_id: string, { address }: Owner): Promise<Owner> {
    const number = numberIn(address) ?? 1;
    return this.#worker.present(((number - 1) % this.#worker.count) + 1, REPLACED_MS);
  }

  async isAlive({ id }: Owner): Promise<boolean> {
    return this.#worker.members.some((member) => member.id === id);
  }

  async leave(): Promise<void> {}

  close(): void {}
}
