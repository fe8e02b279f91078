/**
 * The gateway's own tasks: calls that wait for a person, of clients that take a task for that.
 *
 * Invariants: an id opens a task only for the owner that it was sealed for, as with tasks of
 * servers. A task ends with its session, or when its principal is no longer admitted: nothing runs
 * for a client that has gone. What is kept of tasks that are over is bounded, in number and in
 * bytes, for each account and overall, and expires. A task of an earlier process was never run
 * again: it has failed, with the reason as far as it is known.
 */
import { timingSafeEqual } from "node:crypto";
import type { ApprovalRecord } from "../../../auth/approvals/record.ts";
import { type Alarm, Alarms } from "../../../lib/timing/alarms.ts";
import { begunTask, joinTaskId, OWN_TASKS, splitTaskId } from "../../../mcp/identifiers/task-ids.ts";
import type { Call, HeldNotice } from "../../../mcp/protocol/call.ts";
import { type Answer, failure, notificationText, rawText } from "../../../mcp/protocol/json-rpc.ts";
import type { Principal, Viewer } from "../../../mcp/protocol/principal.ts";
import type { Question } from "../dialogue.ts";
import type { Sealer } from "../seal.ts";
import type { SessionStore } from "../store.ts";
import type { TaskClient, Tasks } from "../tasks.ts";
import { Finished, type FinishedLimits } from "./finished.ts";
import { HeldTask, type HeldTaskOptions, type TaskState } from "./held-task.ts";
import { pastTask } from "./past-task.ts";
import { createdTask, plainTask, wholeTask } from "./task-text.ts";

export interface HeldTasksParts {
  readonly sessions: Pick<SessionStore, "on" | "get">;
  readonly sealer: Pick<Sealer, "mark">;
  readonly tasks: Pick<Tasks, "rename" | "listen">;
  /** Names this replica. Undefined: there are no replicas. */
  readonly tag?: string | undefined;
  readonly limits: () => FinishedLimits;
  /** How long a call may wait for a person. */
  readonly timeoutMs: () => number;
  /** Finds a question, also one of an earlier process. */
  readonly recordOf: (approval: string) => ApprovalRecord | undefined;
}

export interface TaskWish {
  /** How long the client wants the task to be kept. */
  readonly ttlMs?: number | undefined;
  /** Delivers the client's answers to questions, as raw JSON by key. */
  readonly give?: HeldTaskOptions["give"];
}

/** How long a task is kept at least when it is over, and at most altogether. */
const KEPT_MS = 600_000;
const MAX_MS = 24 * 3_600_000;
/** Streams for one task. Each is told of every change, with the whole result. */
const MAX_STREAMS = 32;

export class HeldTasks {
  readonly #parts: HeldTasksParts;
  /** By the id of the question, oldest first. */
  readonly #tasks = new Map<string, HeldTask>();
  readonly #finished: Finished;
  readonly #alarms = new Alarms();
  readonly #ends = new WeakMap<HeldTask, Alarm>();
  readonly #startedAt = Date.now();

  constructor(parts: HeldTasksParts) {
    this.#parts = parts;
    this.#finished = new Finished(parts.limits, (task) => this.#forget(task));
    parts.sessions.on("ended", ({ key }) => this.#sessionEnded(key));
  }

  /** Whether calls of this client may become such tasks. */
  isOffered({ visibility }: Pick<Viewer, "visibility">): boolean {
    return visibility?.mayAsk === true;
  }

  /** The size of the results that are kept. */
  get keptBytes(): number {
    return this.#finished.bytes;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Runs a call, and resolves with its answer; if it is held, at once with the task that it is. */
  run(call: Call, wish: TaskWish, start: () => Promise<Answer>): Promise<Answer> {
    const begun = this.watch(call, wish);
    const work = start().catch((error: unknown) => failure(error, { requestId: call.requestId }));
    void work.then((answer) => this.ended(call, answer));
    return Promise.race([begun, work]);
  }

  /** Makes the call a task if it is held. Resolves with the answer that says so; else never. */
  watch(call: Call, wish: TaskWish): Promise<Answer> {
    return new Promise((resolve) => {
      call.whenHeld = (held) => {
        const known = call.task && this.#byId(call.task.id);
        if (known) return known.waits(held.message);
        const task = this.#begin(call, held, wish);
        call.task = task;
        resolve(createdTask(task, call.client.hasSession));
      };
    });
  }

  /** The client of a call without a session is to answer these. */
  needs(call: Call, questions: readonly Question[]): void {
    if (call.task) this.#byId(call.task.id)?.needs(questions);
  }

  /** The call has ended. */
  ended(call: Call, answer: Answer): void {
    const task = call.task && this.#byId(call.task.id);
    if (!task || task.isOver) return;
    const begun = isShort(answer) && answer.ok ? begunTask(rawText(answer.raw)) : undefined;
    if (begun !== undefined) {
      this.#parts.tasks.rename(begun, call.client, task.id);
      task.follow(begun);
    } else if (!answer.ok && call.cancelled === "client") task.cancel("Cancelled by the client");
    else {
      const kept = this.#finished.keep(task, answer);
      task.end(kept, kept.ok ? "It has run" : messageIn(kept));
    }
  }

  /** Returns what this client may know of a task; undefined: there is none for it. */
  find(id: string, client: TaskClient): TaskState | undefined {
    const approval = this.#opened(id, client);
    if (approval === undefined) return undefined;
    const record = this.#tasks.has(approval) ? undefined : this.#parts.recordOf(approval);
    if (!record) return this.#tasks.get(approval);
    const isPast = record.proposedAt < this.#startedAt && Date.now() < record.expiresAt + KEPT_MS;
    return isPast ? pastTask(id, record, record.expiresAt + KEPT_MS - record.proposedAt) : undefined;
  }

  /** Returns the owner's tasks after the one with this number, oldest first. */
  page(owner: string, after: number, size: number): { readonly page: readonly HeldTask[]; readonly more: boolean } {
    const page: HeldTask[] = [];
    // Tasks without an owner belong to anyone with their ids, so no list may show them.
    if (owner === "") return { page, more: false };
    for (const task of this.#tasks.values()) {
      // What goes on as a server's task is listed as one.
      if (task.owner !== owner || task.number <= after || task.follows !== undefined) continue;
      if (page.length === size) return { page, more: true };
      page.push(task);
    }
    return { page, more: false };
  }

  /**
   * Delivers the states of a task to a stream of its owner, until the returned function is called.
   * Undefined: it is not one of these tasks, or not this client's, or has too many streams already:
   * others must ask for it.
   */
  async listen(id: string, client: TaskClient, deliver: (params: string) => void): Promise<(() => void) | undefined> {
    const task = this.find(id, client);
    if (!task) return undefined;
    const tell = (): void => deliver(wholeTask(task));
    if (!(task instanceof HeldTask)) {
      tell();
      return () => {};
    }
    if (task.follows !== undefined) return this.#parts.tasks.listen(task.follows, client, deliver);
    if (task.streams.size >= MAX_STREAMS) return undefined;
    if (task.isOver) tell();
    task.streams.add(tell);
    return () => void task.streams.delete(tell);
  }

  /** Ends the tasks of principals that are no longer admitted. */
  revoke(isValid: (principal: Principal) => boolean): void {
    for (const task of [...this.#tasks.values()]) {
      if (isValid(task.who)) continue;
      task.cancel("Its principal is no longer admitted");
      this.#forget(task);
    }
  }

  #begin(call: Call, { approval, message }: HeldNotice, { ttlMs = 0, give = () => {} }: TaskWish): HeldTask {
    const { taskOwner: owner, hasSession, key } = call.client;
    const { timeoutMs, sessions } = this.#parts;
    const task = new HeldTask({
      id: this.#exposed(approval, owner),
      approval,
      owner,
      number: this.#lastNumber(owner) + 1,
      call,
      message,
      ttlMs: Math.max(timeoutMs() + KEPT_MS, Math.min(ttlMs, MAX_MS)),
      give,
      changed: (changed) => {
        if (changed.isOver) this.#over(changed);
        const session = hasSession && changed.follows === undefined ? sessions.get(key) : undefined;
        session?.notify(notificationText("notifications/tasks/status", plainTask(changed)));
      },
    });
    this.#tasks.set(approval, task);
    const alarm: Alarm = { due: 0, place: -1, ring: () => this.#expired(task) };
    this.#ends.set(task, alarm);
    this.#alarms.set(alarm, performance.now() + task.ttlMs);
    return task;
  }

  #over(task: HeldTask): void {
    const age = Date.now() - task.createdAt;
    task.ttlMs = task.follows === undefined ? Math.max(task.ttlMs, age + KEPT_MS) : MAX_MS;
    const alarm = this.#ends.get(task);
    if (alarm) this.#alarms.set(alarm, performance.now() + task.ttlMs - age);
    this.#finished.keepEmpty(task);
  }

  #expired(task: HeldTask): void {
    if (task.isOver) return this.#forget(task);
    task.ttlMs += KEPT_MS;
    this.#alarms.set(this.#ends.get(task)!, performance.now() + KEPT_MS);
  }

  #forget(task: HeldTask): void {
    if (!this.#tasks.delete(task.approval)) return;
    this.#alarms.clear(this.#ends.get(task)!);
    this.#finished.remove(task);
  }

  #sessionEnded(key: string): void {
    for (const task of [...this.#tasks.values()]) {
      if (task.clientKey !== key) continue;
      task.cancel("Its session has ended");
      if (task.owner === key) this.#forget(task);
    }
  }

  /** Counted for each owner: a cursor must not tell how many tasks others have. */
  #lastNumber(owner: string): number {
    let last = 0;
    for (const task of this.#tasks.values()) if (task.owner === owner) last = task.number;
    return last;
  }

  #byId(id: string): HeldTask | undefined {
    const split = splitTaskId(id);
    return split && this.#tasks.get(split.taskId);
  }

  /** Returns the id of the question if the client is the one that the id was sealed for. */
  #opened(id: string, { taskOwner }: TaskClient): string | undefined {
    const split = splitTaskId(id);
    if (split?.prefix !== OWN_TASKS) return undefined;
    const [given, expected] = [Buffer.from(id), Buffer.from(this.#exposed(split.taskId, taskOwner))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? split.taskId : undefined;
  }

  #exposed(approval: string, owner: string): string {
    const { tag = "", sealer } = this.#parts;
    const seal = sealer.mark(JSON.stringify(["held task", approval, owner, tag]));
    return joinTaskId({ prefix: OWN_TASKS, seal, tag, taskId: approval });
  }
}

/** A longer answer is no task, and the message of a longer error is nothing to be shown. */
function isShort({ raw }: Answer): boolean {
  return raw.length < 65_536;
}

function messageIn(answer: Answer): string {
  const { message } = isShort(answer) ? (JSON.parse(rawText(answer.raw)) as { message?: unknown }) : {};
  return typeof message === "string" ? message : "It has failed";
}
