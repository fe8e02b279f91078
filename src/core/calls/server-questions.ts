/**
 * The questions that a server without a handshake returns as a result: asks the client, and makes
 * the request again with the answers.
 */
import { eachMember, memberSpan, memberText, setMember, toDisplayText } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, failure, type Params, rawText } from "../../mcp/protocol/json-rpc.ts";

const MAX_QUESTIONS = 32;
/** How often a server may ask again. */
export const MAX_ROUNDS = 20;

export function tooManyRounds(): Answer {
  return failure(new GoblinError("BACKEND_ERROR", `The server still asks for input after ${MAX_ROUNDS} rounds`));
}

/** Returns the refusal of a server that asks more at once than a client is asked. */
export function tooManyQuestions(count: number): Answer | undefined {
  if (count <= MAX_QUESTIONS) return undefined;
  const message = `The server asks ${count} questions at once; at most ${MAX_QUESTIONS} are allowed`;
  return failure(new GoblinError("BACKEND_ERROR", message));
}

/**
 * Asks the client all questions of a result. Returns the responses by key, or the first refusal.
 * `prepared`: the params of a question in the form of the client's version.
 */
export async function askAll(text: string, call: Call, prepared = (params: string) => params): Promise<Answer> {
  const asked: Promise<{ key: string; answer: Answer }>[] = [];
  const requests = memberSpan(text, 0, "inputRequests");
  if (requests) {
    let count = 0;
    eachMember(text, requests.start, () => void count++);
    const refused = tooManyQuestions(count);
    if (refused) return refused;
    eachMember(text, requests.start, (key, start, end) => {
      const request = text.slice(start, end);
      const { method } = JSON.parse(request) as { method?: unknown };
      const params = prepared(memberText(request, "params") ?? "{}");
      asked.push(call.client.ask(toDisplayText(method), params, { call }).then((answer) => ({ key, answer })));
    });
  }
  const answers = await Promise.all(asked);
  const refused = answers.find(({ answer }) => !answer.ok);
  if (refused) return refused.answer;
  const members = answers.map(({ key, answer }) => `${JSON.stringify(key)}:${rawText(answer.raw)}`);
  return { ok: true, raw: `{${members.join(",")}}` };
}

/** The request with the responses to the questions of this result. */
export function retry(call: Call, responses: Answer & { readonly ok: true }, result: string): Call {
  let text = setMember(call.text, "inputResponses", rawText(responses.raw));
  const state = memberText(result, "requestState");
  if (state !== undefined) text = setMember(text, "requestState", state);
  return call.derive({ method: call.method, params: JSON.parse(text) as Params, text });
}

/** Gives up on a client that does not answer in time, and withdraws its questions. */
export function unanswered(call: Call, limit: number, serverId: string | undefined): Answer {
  call.cancel("timeout");
  const message = `Timeout: the client did not answer the server's questions within ${limit} ms (timeouts.maxCallMs)`;
  const data = { timeoutMs: limit, ...(serverId !== undefined && { serverId }) };
  return failure(new GoblinError("TIMEOUT", message, { data }), { requestId: call.requestId });
}
