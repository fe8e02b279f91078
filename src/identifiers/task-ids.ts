/**
 * Ids of tasks that a server runs for a client: the server's URI prefix, `+`, a seal, `.`, and the
 * server's own id.
 *
 * The prefix makes the id routable: a client that asks for the task later, perhaps of another
 * gateway process, names its server by that. The seal says whose task it is: it fits one owner, one
 * server and one task, and cannot be guessed. So nothing has to be kept for a task to stay its
 * owner's, however many there are and however often the gateway starts anew.
 */
import { applyEdits, type Edit, elementSpans, memberSpan, memberText, type Span } from "../protocol/json-text.ts";

export interface TaskIdParts {
  readonly prefix: string;
  readonly seal: string;
  /** The server's own id. */
  readonly taskId: string;
}

export function joinTaskId({ prefix, seal, taskId }: TaskIdParts): string {
  return `${prefix}+${seal}.${taskId}`;
}

export function splitTaskId(exposed: string): TaskIdParts | undefined {
  const plus = exposed.indexOf("+");
  const dot = exposed.indexOf(".", plus + 1);
  if (plus < 1 || dot === -1) return undefined;
  return { prefix: exposed.slice(0, plus), seal: exposed.slice(plus + 1, dot), taskId: exposed.slice(dot + 1) };
}

const RELATED = "io.modelcontextprotocol/related-task";

/**
 * The id of the task that a result begins instead of an answer: in a member of its own, or the
 * result is the task.
 */
export function begunTask(text: string): string | undefined {
  const task = memberSpan(text, 0, "task");
  if (task) return taskIdAt(text, task.start)?.taskId;
  return memberText(text, "resultType") === '"task"' ? taskIdAt(text, 0)?.taskId : undefined;
}

/**
 * Puts the clients' ids into a result that speaks of tasks: its own, that of the task in it, those
 * in a list of tasks. `expose` answers undefined for a task that is not this client's: its id stays
 * as it is, and opens nothing.
 */
export function exposeTaskIds(text: string, expose: (taskId: string) => string | undefined): string {
  const edits: Edit[] = [];
  const add = (pos: number): void => {
    const found = taskIdAt(text, pos);
    const exposed = found && expose(found.taskId);
    if (exposed !== undefined) edits.push({ ...found!.span, text: JSON.stringify(exposed) });
  };
  const within = (pos: number, key: string, visit: (span: Span) => void): void => {
    const span = memberSpan(text, pos, key);
    if (span) visit(span);
  };
  add(0);
  within(0, "task", ({ start }) => add(start));
  within(0, "tasks", ({ start }) => {
    for (const element of elementSpans(text, start)) add(element.start);
  });
  within(0, "_meta", ({ start }) => within(start, RELATED, (related) => add(related.start)));
  return applyEdits(text, edits);
}

function taskIdAt(text: string, pos: number): { readonly span: Span; readonly taskId: string } | undefined {
  const span = memberSpan(text, pos, "taskId");
  if (!span || text[span.start] !== '"') return undefined;
  return { span, taskId: JSON.parse(text.slice(span.start, span.end)) as string };
}
