/**
 * The extension for tasks: which clients have it, and how a call runs that may become a task. A
 * server's questions, and links to open first, cannot be the answer then: they are asked through
 * the task.
 */

import {
  askAll,
  MAX_ROUNDS,
  retry,
  tooManyQuestions,
  tooManyRounds,
  unanswered,
} from "../../core/calls/server-questions.ts";
import type { Question } from "../../core/session/dialogue.ts";
import { memberText } from "../../lib/json/json-text.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import { Call, type Client } from "../../mcp/protocol/call.ts";
import { TASKS } from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { FrontContext } from "../context.ts";
import { linkQuestions } from "./result.ts";

const INPUT_REQUIRED = '"input_required"';

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

/** Runs the call; if it became a task, until neither server nor gateway asks anything more. */
export async function runAsTask(call: Call, context: FrontContext): Promise<Answer> {
  let current = call;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await context.relay.handle(current);
    if (!call.task) return answer;
    const limit = context.config.current.timeouts.maxCallMs;
    const next = await withTimeout(askedAgain(call, current, answer), limit, undefined);
    if (!next) return unanswered(call, limit, context.directory.ownerOf(call));
    if (!(next instanceof Call)) return next;
    current = next;
  }
  return tooManyRounds();
}

/** Asks the client what the answer asks. Returns the request to make then, or the answer. */
async function askedAgain(call: Call, current: Call, answer: Answer): Promise<Answer | Call> {
  if (!answer.ok) {
    const links = current.links === "refused" ? undefined : linkQuestions(answer, call.client);
    if (!links) return answer;
    const refused = tooManyQuestions(links.length);
    if (refused) return refused;
    const { method, params, text } = call;
    const ask = (question: Question): Promise<Answer> =>
      call.client.ask(question.method, question.params, { call: current });
    const answers = await Promise.all(links.map(ask));
    const isOpened = answers.every((one) => one.ok && memberText(rawText(one.raw), "action") === '"accept"');
    return call.derive({ method, params, text, links: isOpened ? "opened" : "refused" });
  }
  if (!answer.raw.includes(INPUT_REQUIRED)) return answer;
  const text = rawText(answer.raw);
  if (memberText(text, "resultType") !== INPUT_REQUIRED) return answer;
  const responses = await askAll(text, current);
  return responses.ok ? retry(call, responses, text) : responses;
}
