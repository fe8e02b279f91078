/**
 * The requests about tasks that the gateway answers itself: `tasks/list`, and everything about its
 * own tasks. A task of the gateway that a server's task goes on for is asked for at that server,
 * and answered under its own id.
 *
 * Invariant: a task that is not the client's is answered as one that never was.
 */

import { eachMember, memberSpan, memberText, setMember } from "../../lib/json/json-text.ts";
import { exposeTaskIds, OWN_TASKS } from "../../mcp/identifiers/task-ids.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, rawText } from "../../mcp/protocol/json-rpc.ts";
import { type OnLimit, tooManyUnderWay } from "../../mcp/protocol/limit-exceeded.ts";
import { HeldTask, type TaskState } from "../session/held/held-task.ts";
import type { HeldTasks } from "../session/held/held-tasks.ts";
import { plainTask, relatedResult, wholeTask } from "../session/held/task-text.ts";
import { listTasks } from "../session/task-list.ts";
import type { Tasks } from "../session/tasks.ts";
import type { ExtensionOwners } from "./extension-owners.ts";

export interface TaskMethodsParts {
  readonly tasks: Tasks;
  readonly heldTasks: HeldTasks;
  /** Sends a request about a server's task to its server. Never rejects. */
  readonly send: (call: Call) => Promise<Answer>;
  /** The servers that have tasks. */
  readonly owners: Pick<ExtensionOwners, "has" | "known">;
  /** How many requests of one client may wait for the ends of tasks. */
  readonly mostWaiting: () => number;
  readonly onLimit: OnLimit;
}

type Respond = (call: Call) => Promise<Answer> | Answer;

const PAGE = 20;
const OWN_CURSOR = /^own:([1-9]\d{0,14})$/;
const EMPTY: Answer = { ok: true, raw: "{}" };

export class TaskMethods {
  readonly #parts: TaskMethodsParts;
  /** Requests that wait for the ends of tasks, by the client that they are counted for. */
  readonly #waiting = new Map<string, number>();
  readonly #methods: Readonly<Record<string, (task: TaskState, call: Call) => Promise<Answer> | Answer>>;

  constructor(parts: TaskMethodsParts) {
    this.#parts = parts;
    this.#methods = {
      "tasks/get": (task, call) => stateFor(call, task),
      "tasks/result": (task, call) => this.#result(task, call),
      "tasks/cancel": cancelled,
      "tasks/update": updated,
    };
  }

  /**
   * Returns what answers the request; undefined: it is not about one of the gateway's own tasks.
   */
  find(call: Call): Respond | undefined {
    const { method, params, client } = call;
    if (!method.startsWith("tasks/")) return undefined;
    if (method === "tasks/list") return (listing) => this.#list(listing);
    const respond = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (!respond) return undefined;
    const { taskId } = params;
    const isOwn = typeof taskId === "string" && taskId.startsWith(`${OWN_TASKS}+`);
    const { heldTasks, owners } = this.#parts;
    if (!isOwn && (owners.has(call) || !heldTasks.isOffered(client))) return undefined;
    return (asking) => this.#answer(asking, respond);
  }

  #answer(call: Call, respond: (task: TaskState, call: Call) => Promise<Answer> | Answer): Promise<Answer> | Answer {
    const { taskId } = call.params;
    if (typeof taskId !== "string") throw new GoblinError("INVALID_PARAMS", `${call.method} needs "taskId", a string`);
    const task = this.#parts.heldTasks.find(taskId, call.client);
    if (!task) throw new GoblinError("INVALID_PARAMS", `Task not found: ${taskId.slice(0, 200)}`);
    return task instanceof HeldTask && task.follows !== undefined ? this.#forward(call, task) : respond(task, call);
  }

  /** Asks the server of the task that goes on for this one. */
  async #forward(call: Call, { id, follows }: HeldTask): Promise<Answer> {
    const params = { ...call.params, taskId: follows };
    const text = setMember(call.text, "taskId", JSON.stringify(follows));
    const answer = await this.#parts.send(call.derive({ method: call.method, params, text }));
    if (!answer.ok || !answer.raw.includes('"taskId"')) return answer;
    return { ok: true, raw: exposeTaskIds(rawText(answer.raw), (own) => (own === follows ? id : undefined)) };
  }

  async #result(task: TaskState, call: Call): Promise<Answer> {
    if (task instanceof HeldTask) {
      if (!task.isOver) await this.#over(task, call);
      if (task.follows !== undefined) return this.#forward(call, task);
    }
    const { answer, message } = task;
    if (task.status === "cancelled" || !answer) throw new GoblinError("CANCELLED", message);
    return answer.ok ? { ok: true, raw: await relatedResult(task.id, rawText(answer.raw)) } : answer;
  }

  /** The tasks themselves are counted as calls, so that these are counted apart. */
  async #over(task: HeldTask, call: Call): Promise<void> {
    const { meter } = call.client;
    const waiting = this.#waiting.get(meter) ?? 0;
    const most = this.#parts.mostWaiting();
    if (waiting >= most) {
      this.#parts.onLimit("inFlightPerSession");
      throw tooManyUnderWay(most);
    }
    this.#waiting.set(meter, waiting + 1);
    try {
      await task.over(call);
    } finally {
      const left = this.#waiting.get(meter)! - 1;
      if (left > 0) this.#waiting.set(meter, left);
      else this.#waiting.delete(meter);
    }
  }

  /** The gateway's own tasks come first. */
  async #list(call: Call): Promise<Answer> {
    const { heldTasks, owners } = this.#parts;
    const { cursor } = call.params;
    const own = typeof cursor === "string" ? OWN_CURSOR.exec(cursor) : undefined;
    const isOffered = heldTasks.isOffered(call.client);
    const isAlone = isOffered && !owners.has(call);
    if (!isAlone) await owners.known(call);
    if (cursor !== undefined && !own && !isAlone) return this.#listServers(call);
    if (cursor !== undefined && !own)
      throw new GoblinError("INVALID_PARAMS", "Invalid cursor for tasks: use the nextCursor of an earlier page");
    const { page, more } = heldTasks.page(call.client.taskOwner, Number(own?.[1] ?? 0), PAGE);
    const shown = page.map(plainTask);
    if (more) return listOf(shown, `"own:${page.at(-1)!.number}"`);
    if (isAlone) return listOf(shown);
    const { cursor: _, ...params } = call.params;
    const rest = await this.#listServers(call.derive({ method: call.method, params, text: JSON.stringify(params) }));
    if (!rest.ok || shown.length === 0) return rest;
    const text = rawText(rest.raw);
    const others = memberText(text, "tasks")!.slice(1, -1);
    return listOf(others === "" ? shown : [...shown, others], memberText(text, "nextCursor"));
  }

  #listServers(call: Call): Promise<Answer> {
    return listTasks(call, this.#parts.tasks, async (get) => {
      const own = this.find(get);
      return own ? own(get) : this.#parts.send(get);
    });
  }
}

function stateFor({ client }: Call, task: TaskState): Answer {
  return { ok: true, raw: client.hasSession ? plainTask(task) : wholeTask(task) };
}

function cancelled(task: TaskState, call: Call): Answer {
  const isOver = !(task instanceof HeldTask) || task.isOver;
  if (!isOver) task.cancel("Cancelled by the client");
  else if (call.client.hasSession)
    throw new GoblinError("INVALID_PARAMS", `Cannot cancel the task: it is ${task.status} already`);
  return call.client.hasSession ? stateFor(call, task) : EMPTY;
}

/** Answers to questions that are not open are ignored. */
function updated(task: TaskState, { text }: Call): Answer {
  const responses = new Map<string, string>();
  const span = memberSpan(text, 0, "inputResponses");
  if (span && text[span.start] === "{")
    eachMember(text, span.start, (key, start, end) => responses.set(key, text.slice(start, end)));
  if (task instanceof HeldTask && !task.isOver) task.give(responses);
  return EMPTY;
}

function listOf(tasks: readonly string[], nextCursor?: string): Answer {
  const next = nextCursor === undefined ? "" : `,"nextCursor":${nextCursor}`;
  return { ok: true, raw: `{"tasks":[${tasks.join(",")}]${next}}` };
}
