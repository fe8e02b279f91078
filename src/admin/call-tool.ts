/**
 * Calls a tool for the API or for the program that embeds the gateway. The call takes the same path
 * as any client's; its client has no capabilities. An abort signal cancels it. The API returns the
 * result as the server's own bytes.
 */
import { randomUUID } from "node:crypto";
import { Call, type Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, type ErrorAnswer, failure, rawText } from "../protocol/json-rpc.ts";
import { memberText, toDisplayText } from "../protocol/json-text.ts";
import { ApiFailure } from "./failure.ts";
import type { AdminParts } from "./parts.ts";

export interface ToolCallInput {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface Caller {
  /** The client's name in call records. */
  readonly name: string;
  readonly principal: string;
  readonly signal?: AbortSignal | undefined;
}

export async function callTool(
  { relay, servers }: Pick<AdminParts, "relay" | "servers">,
  input: ToolCallInput,
  caller: Caller,
): Promise<Answer> {
  const client = clientFor(caller);
  const params = { name: input.name, ...(input.arguments && { arguments: input.arguments }) };
  const call = new Call({ method: "tools/call", params, text: JSON.stringify(params), client, emit: () => {} });
  const onAbort = (): void => call.cancel("client");
  if (caller.signal?.aborted) onAbort();
  caller.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await relay.handle(call);
  } finally {
    caller.signal?.removeEventListener("abort", onAbort);
    servers.release(client.key);
  }
}

/** Returns the response of `POST /api/tools/call`. */
export function toolResponse(answer: Answer): Response {
  if (!answer.ok) throw refusal(answer);
  return new Response(`{"result":${rawText(answer.raw)}}`, { headers: { "content-type": "application/json" } });
}

/** Returns the error's code and message. */
export function errorOf(answer: ErrorAnswer): { readonly code: string; readonly message: string } {
  const message: unknown = JSON.parse(memberText(answer.raw, "message") ?? '""');
  return { code: answer.symbol ?? String(answer.code), message: toDisplayText(message) };
}

function clientFor({ name, principal }: Caller): Client {
  const key = `api-${randomUUID()}`;
  const account = principal || "api";
  return {
    key,
    scope: key,
    party: key,
    account,
    meter: account,
    principal,
    taskOwner: principal,
    protocolVersion: "2025-11-25",
    capabilities: {},
    info: { name },
    logLevel: undefined,
    ask: async (method) =>
      failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `A call through the ${name} cannot answer ${method}`)),
  };
}

function refusal(answer: ErrorAnswer): ApiFailure {
  const { code, message } = errorOf(answer);
  return new ApiFailure(statusOf(answer), code, message);
}

function statusOf({ symbol }: ErrorAnswer): number {
  switch (symbol) {
    case "TOOL_NOT_FOUND":
      return 404;
    case "INVALID_PARAMS":
    case "AMBIGUOUS":
      return 400;
    case "LimitExceeded":
    case "BACKEND_UNAVAILABLE":
      return 503;
    case "TIMEOUT":
      return 504;
    default:
      return 502;
  }
}
