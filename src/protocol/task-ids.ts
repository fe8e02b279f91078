/**
 * Ids of tasks that a server runs for a client, made routable: the server's URI prefix, `+`, and
 * the server's own id. A client that asks for the task later, perhaps of another gateway process,
 * names its owner by that.
 */
import { applyEdits, type Edit, elementSpans, memberSpan, type Span } from "./json-text.ts";

function exposeTaskId(prefix: string, taskId: string): string {
  return `${prefix}+${taskId}`;
}

/** The prefix and the server's own id. */
export function splitTaskId(exposed: string): { readonly prefix: string; readonly taskId: string } | undefined {
  const at = exposed.indexOf("+");
  return at < 1 ? undefined : { prefix: exposed.slice(0, at), taskId: exposed.slice(at + 1) };
}

const RELATED = "io.modelcontextprotocol/related-task";

/** The id of the task that a result begins instead of an answer. */
export function begunTask(text: string): string | undefined {
  const task = memberSpan(text, 0, "task");
  const span = task ? memberSpan(text, task.start, "taskId") : undefined;
  return span && text[span.start] === '"' ? (JSON.parse(text.slice(span.start, span.end)) as string) : undefined;
}

/**
 * Puts routable ids into a result that speaks of tasks: its own, that of the task in it, those in a
 * list of tasks.
 */
export function exposeTaskIds(text: string, prefix: string): string {
  const edits: Edit[] = [];
  const add = (pos: number): void => {
    const span = memberSpan(text, pos, "taskId");
    if (!span || text[span.start] !== '"') return;
    const taskId = JSON.parse(text.slice(span.start, span.end)) as string;
    edits.push({ ...span, text: JSON.stringify(exposeTaskId(prefix, taskId)) });
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
