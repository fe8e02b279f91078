/**
 * A task of the gateway as clients read it. Clients with a session get its state alone, and fetch
 * its result with another request; clients without one get questions, result and error with it.
 */
import { membersInSlices } from "../../../lib/json/json-slices.ts";
import { applyEdits, memberText, prependMembers, setMember } from "../../../lib/json/json-text.ts";
import { inSlices } from "../../../lib/timing/slices.ts";
import { type Answer, rawText } from "../../../mcp/protocol/json-rpc.ts";
import { questionsText } from "../dialogue.ts";
import type { TaskState } from "./held-task.ts";

/** How often a client should ask. */
const POLL_MS = 1000;
const RELATED = "io.modelcontextprotocol/related-task";

/** The state, for clients with a session. */
export function plainTask(task: TaskState): string {
  return JSON.stringify({ ...stateOf(task), ttl: task.ttlMs, pollInterval: POLL_MS });
}

/** Everything, for clients without one. */
export function wholeTask(task: TaskState): string {
  const { answer, questions, status } = task;
  const state = JSON.stringify({ ...stateOf(task), ttlMs: task.ttlMs, pollIntervalMs: POLL_MS });
  const add = (members: string): string => `${state.slice(0, -1)},${members}}`;
  if (status === "input_required") return add(`"inputRequests":${questionsText(questions)}`);
  if (!answer || status === "cancelled") return state;
  return add(`"${answer.ok ? "result" : "error"}":${rawText(answer.raw)}`);
}

/** The answer to the call that became a task. */
export function createdTask(task: TaskState, hasSession: boolean): Answer {
  const raw = hasSession ? `{"task":${plainTask(task)}}` : prependMembers(wholeTask(task), '"resultType":"task"');
  return { ok: true, raw };
}

/** Params or a result, marked as one of the task. */
export function relatedTo(taskId: string, text: string): string {
  const meta = memberText(text, "_meta");
  const related = JSON.stringify({ taskId });
  return setMember(text, "_meta", setMember(meta?.startsWith("{") ? meta : "{}", RELATED, related));
}

/** The same for a result of any length. */
export async function relatedResult(taskId: string, text: string): Promise<string> {
  if (!text.startsWith("{")) return text;
  const [span] = await inSlices(membersInSlices(text, 0, ["_meta"]));
  const meta = span ? text.slice(span.start, span.end) : "{}";
  const related = memberText(relatedTo(taskId, `{"_meta":${meta}}`), "_meta")!;
  return span ? applyEdits(text, [{ ...span, text: related }]) : prependMembers(text, `"_meta":${related}`);
}

function stateOf({ id, status, message, createdAt, updatedAt }: TaskState) {
  return {
    taskId: id,
    status,
    statusMessage: message,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}
