/**
 * What is kept of the gateway's tasks that are over, until it expires. It is bounded in number and
 * in bytes; no account has more than half of what the others leave. An account that needs more room
 * loses its own oldest ones.
 */

import { Shares } from "../../../lib/structures/shares.ts";
import { type Answer, failure } from "../../../mcp/protocol/json-rpc.ts";
import { limitExceeded } from "../../../mcp/protocol/limit-exceeded.ts";
import type { HeldTask } from "./held-task.ts";

export interface FinishedLimits {
  /** How many are kept. */
  readonly heldCalls: number;
  /** The size of their results together. */
  readonly heldBytes: number;
}

export class Finished {
  readonly #limits: () => FinishedLimits;
  readonly #forget: (task: HeldTask) => void;
  /** With the size of what they ended with, oldest first. */
  readonly #kept = new Map<HeldTask, number>();
  readonly #tasks = new Shares();
  readonly #bytes = new Shares();

  /** `forget` removes a task altogether, and calls `remove`. */
  constructor(limits: () => FinishedLimits, forget: (task: HeldTask) => void) {
    this.#limits = limits;
    this.#forget = forget;
  }

  get bytes(): number {
    return this.#bytes.total;
  }

  /** Keeps a task with what it ends with. Returns that, or what is kept instead. */
  keep(task: HeldTask, answer: Answer): Answer {
    const { length } = answer.raw;
    if (this.#takeRoom(task, length)) return ownCopy(answer);
    const value = this.#limits().heldBytes;
    const what = `the call has run, but its result of ${length} characters is too large to be kept for a task`;
    const instead = failure(limitExceeded({ limit: "heldBytes", value, what, advice: "see what it did" }));
    this.keepEmpty(task, instead.raw.length);
    return instead;
  }

  /** Keeps a task that has no result, or a short one. */
  keepEmpty(task: HeldTask, size = 0): void {
    if (this.#kept.has(task)) return;
    while (!this.#takeRoom(task, size)) {
      const oldest = this.#kept.keys().next().value;
      if (!oldest) return;
      this.#forget(oldest);
    }
  }

  remove(task: HeldTask): void {
    const size = this.#kept.get(task);
    if (size === undefined) return;
    this.#kept.delete(task);
    const { account } = task;
    this.#tasks.giveBack(account);
    this.#bytes.giveBack(account, size);
  }

  #takeRoom(task: HeldTask, size: number): boolean {
    const { account } = task;
    while (!this.#take(account, size)) {
      const own = [...this.#kept.keys()].find((one) => one.account === account);
      if (!own) return false;
      this.#forget(own);
    }
    this.#kept.set(task, size);
    return true;
  }

  #take(account: string, size: number): boolean {
    const { heldCalls, heldBytes } = this.#limits();
    if (!this.#tasks.take(account, heldCalls)) return false;
    if (size === 0 || this.#bytes.take(account, heldBytes, size)) return true;
    this.#tasks.giveBack(account);
    return false;
  }
}

/** The result may be a part of a longer message, which would be kept with it. */
function ownCopy(answer: Answer): Answer {
  if (answer.ok) return { ok: true, raw: Buffer.from(answer.raw) };
  return { ...answer, raw: Buffer.from(answer.raw).toString() };
}
