/**
 * Calls that the API makes for somebody who watches: progress, log messages and the server's
 * questions come as events of the call's own stream, and answers come as requests.
 *
 * Invariant: only the principal that made a call can answer its questions. A call ends with its
 * stream, and so do its questions.
 */
import { createHash } from "node:crypto";
import { memberText } from "../../../lib/json/json-text.ts";
import type { About, Call } from "../../../mcp/protocol/call.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { type Answer, failure, rawText } from "../../../mcp/protocol/json-rpc.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { errorOf, makeCall, settle } from "../call-tool.ts";
import { apiFailure } from "../failure.ts";
import type { AdminParts } from "../parts.ts";
import { EventResponse } from "./event-response.ts";
import type { LiveRequest } from "./schema.ts";

/** What a person in front of a screen can answer. */
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const ASKABLE: ReadonlySet<string> = new Set(["elicitation/create", "sampling/createMessage"]);
/** MCP's code for a person who said no. */
const REFUSED = -1;

interface Live {
  readonly principal: Principal;
  readonly call: Call;
  readonly stream: EventResponse;
  readonly questions: Map<string, (answer: Answer) => void>;
}

type Parts = Pick<AdminParts, "relay" | "servers" | "directory" | "config" | "guards" | "logs">;

export class LiveCalls {
  readonly #parts: Parts;
  readonly #calls = new Map<string, Live>();
  #lastQuestion = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { guards } = parts;
    guards.on("expired", (isLive) => this.#revoke(isLive));
    guards.on("changed", () => this.#revoke((principal) => guards.main.admits(principal, "admin")));
  }

  /** Makes a call and returns its stream. */
  start({ method, params, caller, capabilities = CAPABILITIES }: LiveRequest, principal: Principal): Response {
    const questions: Live["questions"] = new Map();
    const withToken = { ...params, _meta: { ...(params["_meta"] as object | undefined), progressToken: "api" } };
    const { call, release } = makeCall(this.#parts.servers, {
      method,
      params: method === "completion/complete" ? params : withToken,
      caller: { name: "admin API", principal },
      ...(caller !== undefined && { party: partyOf(principal.id, caller) }),
      capabilities,
      logLevel: "info",
      emit: (notification) => pass(stream, notification),
      ask: (asked, text, about) => this.#ask(live, { method: asked, params: text, about }),
    });
    const stream = new EventResponse(() => {
      this.#calls.delete(call.requestId);
      call.cancel("client");
      for (const answer of questions.values()) answer(gone());
      questions.clear();
    });
    const live: Live = { principal, call, stream, questions };
    this.#calls.set(call.requestId, live);
    stream.send("started", JSON.stringify({ id: call.requestId }));
    void this.#finish(live).finally(release);
    return stream.response;
  }

  /** Hands an answer to the server that asked. */
  answer(options: {
    readonly id: string;
    readonly principal: Principal;
    readonly question: string;
    readonly result?: Readonly<Record<string, unknown>> | undefined;
    readonly refusal?: string | undefined;
  }): void {
    const live = this.#calls.get(options.id);
    const settleQuestion =
      live?.principal.id === options.principal.id ? live.questions.get(options.question) : undefined;
    if (!settleQuestion) throw apiFailure("QUESTION_NOT_FOUND", "There is no such question, or it is settled");
    if ((options.result === undefined) === (options.refusal === undefined)) {
      throw apiFailure("INVALID_PARAMS", 'Invalid body: it needs either "result" or "refusal"');
    }
    live!.questions.delete(options.question);
    if (options.refusal === undefined) return settleQuestion({ ok: true, raw: JSON.stringify(options.result) });
    settleQuestion({ ok: false, code: REFUSED, raw: JSON.stringify({ code: REFUSED, message: options.refusal }) });
  }

  close(): void {
    this.#revoke(() => false);
  }

  /** Ends the calls of callers whose access was revoked. */
  #revoke(isValid: (principal: Principal) => boolean): void {
    for (const { principal, stream } of [...this.#calls.values()]) if (!isValid(principal)) stream.end();
  }

  async #finish({ call, stream }: Live): Promise<void> {
    const first = await this.#parts.relay.handle(call);
    const answer = await settle(call, first, this.#parts);
    if (answer.ok) stream.send("result", `{"result":${rawText(answer.raw)}}`);
    else stream.send("error", JSON.stringify(errorOf(answer)));
    stream.end();
  }

  async #ask(live: Live, asked: { method: string; params: string; about: About }): Promise<Answer> {
    const { method, params, about } = asked;
    if (method === "roots/list") return { ok: true, raw: '{"roots":[]}' };
    if (!ASKABLE.has(method)) {
      return failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `A call through the admin API cannot answer ${method}`));
    }
    if (live.call.cancelled || about.signal?.aborted) return gone();
    this.#lastQuestion++;
    const id = String(this.#lastQuestion);
    return new Promise((resolve) => {
      live.questions.set(id, resolve);
      about.signal?.addEventListener("abort", () => {
        if (!live.questions.delete(id)) return;
        live.stream.send("withdrawn", JSON.stringify({ id }));
        resolve(gone());
      });
      live.stream.send("question", `{"id":"${id}","method":${JSON.stringify(method)},"params":${params}}`);
    });
  }
}

/** Nobody else knows the caller's secret, so equal parties are the same caller. */
function partyOf(principal: string, caller: string): string {
  return `api-${createHash("sha256")
    .update(JSON.stringify([principal, caller]))
    .digest("hex")}`;
}

/** Progress and log messages reach the caller as events; the rest is not for it. */
function pass(stream: EventResponse, notification: string): void {
  const params = memberText(notification, "params");
  const method = memberText(notification, "method");
  if (params === undefined) return;
  if (method === '"notifications/progress"') stream.send("progress", params, { mayDrop: true });
  if (method === '"notifications/message"') stream.send("log", params, { mayDrop: true });
}

function gone(): Answer {
  return failure(new GoblinError("CANCELLED", "The call was given up before the question was answered"));
}
