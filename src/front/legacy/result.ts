/**
 * Translates a result of a server without a handshake for a client with one. It asks the client the
 * server's questions and repeats the request with the answers. It removes members that the client's
 * version does not know.
 */
import { randomUUID } from "node:crypto";
import { askAll, MAX_ROUNDS, retry, tooManyRounds, unanswered } from "../../core/calls/server-questions.ts";
import { JsonKey } from "../../lib/json/json-key.ts";
import { dropMembers, memberSpan, memberText, setMember } from "../../lib/json/json-text.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { META_PREFIX } from "../../mcp/protocol/envelope.ts";
import { type Answer, type Raw, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { FrontContext } from "../context.ts";
import { type Outputs, withObjectOutputs, wrapsOutput } from "./tools.ts";

const RESULT_TYPE = new JsonKey("resultType");
const CACHE_MEMBERS = new Set(["resultType", "ttlMs", "cacheScope"]);

/** Whether the client may get this answer unchanged. */
export function isSettled(call: Call, answer: Answer): boolean {
  return !answer.ok || (call.method !== "tools/list" && !RESULT_TYPE.isIn(answer.raw));
}

/**
 * Takes a call from its first answer through all questions to its final answer, in the form that
 * the client's version expects.
 */
export async function settleWithClient(
  call: Call,
  first: Answer,
  {
    context,
    startedAt,
  }: { readonly context: Pick<FrontContext, "relay" | "directory" | "config">; readonly startedAt: number },
): Promise<Answer> {
  let current = call;
  let heldMs = 0;
  const outputs: Outputs = { directory: context.directory, viewer: call.client };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = round === 0 ? first : await context.relay.handle(current);
    heldMs += current.heldMs;
    if (answer.ok && call.method === "tools/list") return { ok: true, raw: withObjectOutputs(answer.raw, outputs) };
    if (!answer.ok || isSettled(call, answer)) return answer;
    const text = rawText(answer.raw);
    const kind = memberText(text, "resultType");
    if (kind === undefined) return answer;
    if (kind !== '"input_required"')
      return { ok: true, raw: kind === '"complete"' ? withoutMarks(text, call, outputs) : answer.raw };
    const limit = context.config.current.timeouts.maxCallMs;
    const left = Math.max(0, startedAt + heldMs + limit - performance.now());
    const responses = await withTimeout(askAll(text, current, withElicitationId), left, undefined);
    if (!responses) return unanswered(call, limit, context.directory.ownerOf(call));
    if (!responses.ok) return responses;
    current = retry(call, responses, text);
  }
  return tooManyRounds();
}

/** Adds the id that earlier versions use to tell questions with a link apart. */
function withElicitationId(params: string): string {
  const { mode, elicitationId } = JSON.parse(params) as { mode?: unknown; elicitationId?: unknown };
  return mode === "url" && elicitationId === undefined
    ? setMember(params, "elicitationId", JSON.stringify(randomUUID()))
    : params;
}

function withoutMarks(text: string, { method, params }: Call, outputs: Outputs): Raw {
  const marks =
    method === "tools/call" || method === "prompts/get"
      ? (key: string) => key === "resultType"
      : (key: string) => CACHE_MEMBERS.has(key);
  let plain = dropMembers(text, marks);
  const meta = memberText(plain, "_meta");
  if (meta?.includes(META_PREFIX)) {
    const kept = dropMembers(meta, (key) => key.startsWith(META_PREFIX));
    plain = kept === "{}" ? dropMembers(plain, (key) => key === "_meta") : setMember(plain, "_meta", kept);
  }
  return method === "tools/call" ? wrapStructured(plain, wrapsOutput(outputs, params["name"])) : plain;
}

/** Wraps structured content that is not an object: earlier versions allow only objects. */
function wrapStructured(text: string, always: boolean): string {
  const span = memberSpan(text, 0, "structuredContent");
  if (!span || (text[span.start] === "{" && !always)) return text;
  return `${text.slice(0, span.start)}{"result":${text.slice(span.start, span.end)}}${text.slice(span.end)}`;
}
