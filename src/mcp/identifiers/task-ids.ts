/**
 * Ids of tasks that a server runs for a client: the server's URI prefix, `+`, a seal, `.`, and the
 * server's own id. Where there are replicas, `~` and the tag of the one that started the task
 * follow the seal.
 *
 * The prefix makes the id routable, even through another gateway process. The seal proves
 * ownership: it is valid for one owner, one server and one task, and cannot be guessed. So the
 * gateway stores nothing per task, and tasks keep their owner across restarts.
 */
import { applyEdits, type Edit, elementSpans, memberSpan, memberText, type Span } from "../../lib/json/json-text.ts";

export interface TaskIdParts {
  readonly prefix: string;
  readonly seal: string;
  /** Names the replica that started the task; empty without replicas. */
  readonly tag: string;
  /** The server's own id. */
  readonly taskId: string;
}

/** The prefix of the gateway's own tasks. No server has it: a colon is in no server's prefix. */
export const OWN_TASKS = "goblin:approval";

export function joinTaskId({ prefix, seal, tag, taskId }: TaskIdParts): string {
  return `${prefix}+${seal}${tag === "" ? "" : `~${tag}`}.${taskId}`;
}

export function splitTaskId(exposed: string): TaskIdParts | undefined {
  const plus = exposed.indexOf("+");
  const dot = exposed.indexOf(".", plus + 1);
  if (plus < 1 || dot === -1) return undefined;
  const [seal = "", tag = ""] = exposed.slice(plus + 1, dot).split("~", 2);
  return { prefix: exposed.slice(0, plus), seal, tag, taskId: exposed.slice(dot + 1) };
}

const RELATED = "io.modelcontextprotocol/related-task";

/**
 * Returns the id of a task that the result starts: in its `task` member, or the result itself is
 * the task.
 */
export function begunTask(text: string): string | undefined {
  const task = memberSpan(text, 0, "task");
  if (task) return taskIdAt(text, task.start)?.taskId;
  return memberText(text, "resultType") === '"task"' ? taskIdAt(text, 0)?.taskId : undefined;
}

/**
 * Replaces task ids in a result with the clients' ids: in the result, in its task, and in a list of
 * tasks. If `expose` returns undefined, the task belongs to another client. Its id stays unchanged
 * and gives no access.
 */
export function exposeTaskIds(text: string, expose: (taskId: string) => string | undefined): string {
  const edits: Edit[] = [];
  const add = (pos: number): void => {
    const found = taskIdAt(text, pos);
    const exposed = found && expose(found.taskId);
    if (exposed !== undefined) edits.push({ ...found!.span, text: JSON.stringify(exposed) });
  };
  const inMember = (pos: number, key: string, visit: (span: Span) => void): void => {
    const span = memberSpan(text, pos, key);
    if (span) visit(span);
  };
  add(0);
  inMember(0, "task", ({ start }) => add(start));
  inMember(0, "tasks", ({ start }) => {
    for (const element of elementSpans(text, start)) add(element.start);
  });
  inMember(0, "_meta", ({ start }) => inMember(start, RELATED, (related) => add(related.start)));
  return applyEdits(text, edits);
}

function taskIdAt(text: string, pos: number): { readonly span: Span; readonly taskId: string } | undefined {
  const span = memberSpan(text, pos, "taskId");
  if (!span || text[span.start] !== '"') return undefined;
  return { span, taskId: JSON.parse(text.slice(span.start, span.end)) as string };
}
