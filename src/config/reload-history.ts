/**
 * Records the outcome of config reloads: how many were applied, how many were rejected, and why the
 * last one was.
 *
 * Invariant: a rejection is kept until a later reload succeeds, so that anyone who looks in between
 * sees it. It names places and keys, never a value of the file.
 */
import { EventEmitter } from "node:events";
import { messageOf } from "../mcp/protocol/errors.ts";
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

  /** Why the file's config is not in use; undefined while it is. */
  get refusal(): ReloadFailure | undefined {
    return this.#refusal;
  }

  /** Records a success. Returns whether the previous reload was rejected. */
  apply(): boolean {
    const recovered = this.#refusal !== undefined;
    this.#applied++;
    this.#refusal = undefined;
    this.emit("changed");
    return recovered;
  }

  /** Records a rejection. `file`: used for problems without a location. */
  refuse(error: unknown, file: string): void {
    this.#refused++;
    const located = error instanceof ConfigError ? error.problems : [];
    const unlocated = { file, line: 0, column: 0, key: "", message: messageOf(error) };
    this.#refusal = { at: Date.now(), problems: located.length > 0 ? located : [unlocated] };
    this.emit("changed");
  }
}
