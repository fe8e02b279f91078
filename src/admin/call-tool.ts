/**
 * `POST /api/tools/call`: a tool call that takes the same way as any client's, in the name of a
 * client that supports nothing else. The result goes back as the server's own bytes. A request that
 * is broken off cancels the call.
 */
import { randomUUID } from "node:crypto";
import { Call, type Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type ErrorAnswer, failure, rawText } from "../protocol/json-rpc.ts";
import { memberText, toDisplayText } from "../protocol/json-text.ts";
import { ApiFailure } from "./failure.ts";
import type { AdminParts } from "./parts.ts";

export interface ToolCallInput {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export async function callTool(
  { relay, servers }: Pick<AdminParts, "relay" | "servers">,
  input: ToolCallInput,
  from: { readonly principal: string; readonly signal: AbortSignal },
): Promise<Response> {
  const client = adminClient(from.principal);
  const params = { name: input.name, ...(input.arguments && { arguments: input.arguments }) };
  const call = new Call({ method: "tools/call", params, text: JSON.stringify(params), client, emit: () => {} });
  const onAbort = (): void => call.cancel("client");
  from.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const answer = await relay.handle(call);
    if (!answer.ok) throw refusal(answer);
    return new Response(`{"result":${rawText(answer.raw)}}`, { headers: { "content-type": "application/json" } });
  } finally {
    from.signal.removeEventListener("abort", onAbort);
    servers.release(client.key);
  }
}

function adminClient(principal: string): Client {
  const key = `api-${randomUUID()}`;
  return {
    key,
    scope: key,
    party: key,
    account: "admin",
    principal,
    taskOwner: principal,
    protocolVersion: "2025-11-25",
    capabilities: {},
    info: { name: "admin API" },
    logLevel: undefined,
    ask: async (method) =>
      failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `A call through the API cannot answer ${method}`)),
  };
}

function refusal(answer: ErrorAnswer): ApiFailure {
  const message: unknown = JSON.parse(memberText(answer.raw, "message") ?? '""');
  return new ApiFailure(statusOf(answer), answer.symbol ?? String(answer.code), toDisplayText(message));
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
