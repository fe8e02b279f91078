/**
 * `tasks/list`, answered from the book: the servers' own lists have everybody's tasks in them. Each
 * task is asked for at its server, so what is listed is its state now, with every member that the
 * server gave it.
 *
 * A task that its server does not know any more leaves the book. One whose server cannot be asked
 * is left out this time.
 */
import type { Call } from "../protocol/call.ts";
import { errorCodes, GoblinError } from "../protocol/errors.ts";
import { type Answer, rawText } from "../protocol/json-rpc.ts";
import { dropMembers } from "../protocol/json-text.ts";
import type { Task, Tasks } from "./tasks.ts";

const PAGE = 20;
const NOT_FOUND = errorCodes.INVALID_PARAMS;
/** What is said of the answer rather than of the task. */
const ENVELOPE = new Set(["_meta", "resultType"]);

/** `get` takes a `tasks/get` to its server and never rejects. */
export async function listTasks(call: Call, tasks: Tasks, get: (call: Call) => Promise<Answer>): Promise<Answer> {
  const state = async (task: Task): Promise<string | undefined> => {
    const params = { taskId: tasks.exposed(task.serverId, task.taskId, call.client) };
    const answer = await get(call.derive({ method: "tasks/get", params, text: JSON.stringify(params) }));
    if (answer.ok) return dropMembers(rawText(answer.raw), (key) => ENVELOPE.has(key));
    if (answer.code === NOT_FOUND) tasks.forget(task);
    return undefined;
  };
  const { page, more } = tasks.page(call.client.taskOwner, numberIn(call.params["cursor"]), PAGE);
  const next = more ? `,"nextCursor":"${page.at(-1)!.number}"` : "";
  const states = await Promise.all(page.map(state));
  return { ok: true, raw: `{"tasks":[${states.filter((text) => text !== undefined).join(",")}]${next}}` };
}

function numberIn(cursor: unknown): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === "string" && /^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw new GoblinError("INVALID_PARAMS", "Invalid cursor for tasks: use the nextCursor of an earlier page");
}
