/**
 * `tasks/list`, answered from the book: a server's own list would show everybody's tasks. Each task
 * is fetched from its server, so the list shows the current state with all members.
 *
 * A task that its server no longer knows leaves the book. A task whose server cannot be reached is
 * left out this time.
 */

import { dropMembers } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { errorTable, GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Task, Tasks } from "./tasks.ts";

const PAGE = 20;
const NOT_FOUND = errorTable.INVALID_PARAMS.rpc;
/** What is said of the answer rather than of the task. */
const ENVELOPE = new Set(["_meta", "resultType"]);

/** `get` sends a `tasks/get` to its server and never rejects. */
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
