/**
 * Makes calls for the API or for the program that embeds the gateway. A call takes the same path as
 * any client's. An abort signal cancels it. The API returns a tool's result as the server's own
 * bytes.
 */

import { randomUUID } from "node:crypto";
import { isSettled, settleWithClient } from "../../front/legacy/result.ts";
import { memberText, toDisplayText } from "../../lib/json/json-text.ts";
import { version } from "../../lib/package/version.ts";
import { Call, type Client } from "../../mcp/protocol/call.ts";
import { errorTable, GoblinError } from "../../mcp/protocol/errors.ts";
import {
  type Answer,
  type ErrorAnswer,
  failure,
  type Params,
  rawText,
  shownCode,
} from "../../mcp/protocol/json-rpc.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import { ApiFailure } from "./failure.ts";
import type { AdminParts } from "./parts.ts";

export interface ToolCallInput {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface Caller {
  /** The client's name in call records. */
  readonly name: string;
  readonly principal: Principal;
  readonly signal?: AbortSignal | undefined;
}

type Parts = Pick<AdminParts, "relay" | "servers">;

export async function callTool(parts: Parts, input: ToolCallInput, caller: Caller): Promise<Answer> {
  const params = { name: input.name, ...(input.arguments && { arguments: input.arguments }) };
  const { call, release } = makeCall(parts.servers, { method: "tools/call", params, caller });
  const onAbort = (): void => call.cancel("client");
  if (caller.signal?.aborted) onAbort();
  caller.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await parts.relay.handle(call);
  } finally {
    caller.signal?.removeEventListener("abort", onAbort);
    release();
  }
}

export interface ApiCallOptions extends Partial<Pick<Client, "capabilities" | "logLevel" | "ask" | "party">> {
  readonly method: string;
  readonly params: Params;
  readonly caller: Caller;
  readonly emit?: (notification: string) => void;
}

/** Returns a call of a client of its own, and what releases that client's connections. */
export function makeCall(
  servers: Pick<Servers, "release">,
  options: ApiCallOptions,
): { call: Call; release: () => void } {
  const { method, params, emit = () => {} } = options;
  const client = clientFor(options);
  const call = new Call({ method, params, text: JSON.stringify(params), client, emit });
  return { call, release: () => servers.release(client.key) };
}

/** Asks the caller what a server needs to know before it answers, until it has answered. */
export async function settle(
  call: Call,
  first: Answer,
  context: Pick<AdminParts, "relay" | "directory" | "config">,
): Promise<Answer> {
  return isSettled(call, first) ? first : settleWithClient(call, first, { context, startedAt: performance.now() });
}

/** Returns the response of `POST /api/tools/call`. */
export function toolResponse(answer: Answer): Response {
  if (!answer.ok) throw refusal(answer);
  return new Response(`{"result":${rawText(answer.raw)}}`, { headers: { "content-type": "application/json" } });
}

/** Returns the error's code and message. */
export function errorOf(answer: ErrorAnswer): { readonly code: string; readonly message: string } {
  const message: unknown = JSON.parse(memberText(answer.raw, "message") ?? '""');
  return { code: String(shownCode(answer)), message: toDisplayText(message) };
}

function clientFor(options: ApiCallOptions): Client {
  const { name, principal } = options.caller;
  const { capabilities = {}, logLevel, ask } = options;
  const key = `api-${randomUUID()}`;
  const account = principal.id || "api";
  return {
    key,
    // Its connections are its own and are released with it, like those of a session.
    hasSession: true,
    scope: key,
    party: options.party ?? key,
    account,
    meter: account,
    who: principal,
    principal: principal.id,
    endpoint: "",
    visibility: undefined,
    taskOwner: principal.id,
    protocolVersion: "2025-11-25",
    capabilities,
    info: { name, version },
    logLevel,
    ask:
      ask ??
      (async (method) =>
        failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `A call through the ${name} cannot answer ${method}`))),
  };
}

/** An error of the server's own counts as a bad answer. */
export function refusal(answer: ErrorAnswer): ApiFailure {
  const { code, message } = errorOf(answer);
  return new ApiFailure(errorTable[answer.symbol ?? "BACKEND_ERROR"].http, code, message);
}
