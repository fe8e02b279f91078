/**
 * The extension for tasks: which clients have it, and how a call runs that may become a task. A
 * server's questions in a result cannot be the answer then, so they are asked through the task.
 */

import { askAll, MAX_ROUNDS, retry, tooManyRounds, unanswered } from "../../calls/server-questions.ts";
import { memberText } from "../../json/json-text.ts";
import type { Call, Client } from "../../protocol/call.ts";
import { TASKS } from "../../protocol/envelope.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { type Answer, rawText } from "../../protocol/json-rpc.ts";
import { withTimeout } from "../../timing/with-timeout.ts";
import type { FrontContext } from "../context.ts";

/** Whether the client declared the extension for tasks. */
export function hasTasks({ capabilities }: Pick<Client, "capabilities">): boolean {
  const { extensions } = capabilities;
  return typeof extensions === "object" && extensions !== null && TASKS in extensions;
}

export function missingTasks(): GoblinError {
  const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
  return new GoblinError("MISSING_CLIENT_CAPABILITY", `The client did not declare ${TASKS}`, { data });
}

/** Whether the call becomes a task if it has to wait for a person. */
export function mayBeTask({ method, client }: Call): boolean {
  return method === "tools/call" && client.visibility?.mayAsk === true && hasTasks(client);
}

/** Runs the call; if it became a task, until the server asks nothing more. */
export async function runAsTask(call: Call, context: FrontContext): Promise<Answer> {
  let current = call;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await context.relay.handle(current);
    if (!call.task || !answer.ok || !answer.raw.includes('"input_required"')) return answer;
    const text = rawText(answer.raw);
    if (memberText(text, "resultType") !== '"input_required"') return answer;
    const limit = context.config.current.timeouts.maxCallMs;
    const responses = await withTimeout(askAll(text, current), limit, undefined);
    if (!responses) return unanswered(call, limit, context.directory.ownerOf(call));
    if (!responses.ok) return responses;
    current = retry(call, responses, text);
  }
  return tooManyRounds();
}
