/**
 * What became of the readings of the config while the gateway runs: how many were applied, how many
 * refused, and why the last one was.
 *
 * What must always hold: a refusal is kept until a later reading is applied, so that whoever looks
 * in between sees it; it names places and keys, never a value of the file.
 */
import { EventEmitter } from "node:events";
import { messageOf } from "../protocol/errors.ts";
import { ConfigError, type Problem } from "./problems/problem.ts";

export interface ReloadFailure {
  /** Epoch milliseconds. */
  readonly at: number;
  /** At least one. */
  readonly problems: readonly Problem[];
}

export class ReloadHistory extends EventEmitter<{ changed: [] }> {
  #applied = 0;
  #refused = 0;
  #refusal: ReloadFailure | undefined;

  get applied(): number {
    return this.#applied;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Why the config in use is not the one in the file; undefined while it is. */
  get refusal(): ReloadFailure | undefined {
    return this.#refusal;
  }

  /** Returns whether the reading before this one had been refused. */
  apply(): boolean {
    const recovered = this.#refusal !== undefined;
    this.#applied++;
    this.#refusal = undefined;
    if (recovered) this.emit("changed");
    return recovered;
  }

  /** `file`: used for problems without a location. */
  refuse(error: unknown, file: string): void {
    this.#refused++;
    const located = error instanceof ConfigError ? error.problems : [];
    const unlocated = { file, line: 0, column: 0, key: "", message: messageOf(error) };
    this.#refusal = { at: Date.now(), problems: located.length > 0 ? located : [unlocated] };
    this.emit("changed");
  }
}
