/**
 * One call that waits for a person, as a task of the gateway: it works while it is held and while
 * it runs, needs input while its client is asked something, and ends once.
 *
 * Invariants: what it ended with never changes. When it is over, nothing is left of the request:
 * its arguments may be large, and only the result is counted then.
 */

import { each, inSlices, type Sliced } from "../../../lib/timing/slices.ts";
import type { Call, CallTask } from "../../../mcp/protocol/call.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { Question } from "../dialogue.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What is shown of a task. */
export interface TaskState {
  readonly id: string;
  readonly status: TaskStatus;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  /** The questions that the client answers with an update. */
  readonly questions: readonly Question[];
  /** What it ended with; undefined: it has not, or it was cancelled. */
  readonly answer: Answer | undefined;
}

export interface HeldTaskOptions {
  readonly id: string;
  /** The id of the question. */
  readonly approval: string;
  readonly owner: string;
  /** Its position among the owner's tasks. */
  readonly number: number;
  readonly call: Call;
  readonly message: string;
  readonly ttlMs: number;
  /** Delivers the client's answers to questions, as raw JSON by key. */
  readonly give: (responses: ReadonlyMap<string, string>) => void;
  readonly changed: (task: HeldTask) => void;
}

export class HeldTask implements TaskState, CallTask {
  readonly id: string;
  readonly approval: string;
  readonly owner: string;
  readonly number: number;
  /** The key of the client that made the call. */
  readonly clientKey: string;
  readonly account: string;
  readonly who: Principal;
  readonly createdAt = Date.now();
  updatedAt = this.createdAt;
  ttlMs: number;
  message: string;
  questions: readonly Question[] = [];
  answer: Answer | undefined;
  /** The server's own task that goes on in its place, by the id that clients know. */
  follows: string | undefined;
  /** The owner's streams that were opened for it. Each gets its state. */
  readonly streams = new Set<() => void>();
  #call: Call | undefined;
  #give: HeldTaskOptions["give"] | undefined;
  readonly #changed: (task: HeldTask) => void;
  readonly #waiting = new Set<() => void>();
  #asking = 0;
  #isCancelled = false;

  constructor(options: HeldTaskOptions) {
    this.id = options.id;
    this.approval = options.approval;
    this.owner = options.owner;
    this.number = options.number;
    this.clientKey = options.call.client.key;
    this.account = options.call.client.account;
    this.who = options.call.who;
    this.#call = options.call;
    this.message = options.message;
    this.ttlMs = options.ttlMs;
    this.#give = options.give;
    this.#changed = options.changed;
  }

  get status(): TaskStatus {
    if (this.#isCancelled) return "cancelled";
    if (this.answer) return this.answer.ok ? "completed" : "failed";
    return this.#asking > 0 || this.questions.length > 0 ? "input_required" : "working";
  }

  /** Whether it can no longer change in this process. */
  get isOver(): boolean {
    return this.#isCancelled || this.answer !== undefined || this.follows !== undefined;
  }

  goesOn(): void {
    this.#change("A person has approved it: it runs");
  }

  /** It waits for a person again: the rules have changed meanwhile. */
  waits(message: string): void {
    this.#change(message);
  }

  asks(): () => void {
    this.#asking++;
    this.#change();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#asking--;
      this.#change();
    };
  }

  /** The client is to answer these by updates; none: it has nothing to answer. */
  needs(questions: readonly Question[]): void {
    this.questions = questions;
    this.#change();
  }

  /** Delivers the client's answers to questions. */
  give(responses: ReadonlyMap<string, string>): void {
    this.#give?.(responses);
  }

  /** `message`: the text about the end. */
  end(answer: Answer, message: string): void {
    if (this.isOver) return;
    this.answer = answer;
    this.#finish(message);
  }

  /** The server answered with a task of its own. */
  follow(taskId: string): void {
    if (this.isOver) return;
    this.follows = taskId;
    this.#finish(this.message);
  }

  cancel(message: string): void {
    if (this.isOver) return;
    const call = this.#call;
    this.#isCancelled = true;
    this.#finish(message);
    call?.cancel("client");
  }

  /** Resolves when it is over. Rejects if the request that waits for that is cancelled. */
  over(waiting: Call): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      waiting.onCancel((reason) => {
        this.#waiting.delete(resolve);
        const who = reason === "shutdown" ? "The gateway is shutting down" : "Cancelled by the client";
        reject(new GoblinError("CANCELLED", who));
      });
    });
  }

  #finish(message: string): void {
    this.questions = [];
    this.#asking = 0;
    this.#call = undefined;
    this.#give = undefined;
    this.#change(message, true);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #change(message = this.message, isLast = false): void {
    if (this.isOver && !isLast) return;
    this.message = message;
    this.updatedAt = Date.now();
    this.#changed(this);
    const { answer, streams } = this;
    if (!answer) for (const tell of streams) tell();
    else if (streams.size > 0) void inSlices(tellEach(streams, answer.raw.length));
  }
}

/** Each stream gets the result, which may be long. */
function tellEach(streams: ReadonlySet<() => void>, length: number): Sliced<void> {
  const tell = (one: () => void): void => {
    if (streams.has(one)) one();
  };
  return each([...streams], tell, () => 1 + (length >> 7));
}
