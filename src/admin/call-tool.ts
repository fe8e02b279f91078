/**
 * Calls a tool for the API or for the program that embeds the gateway. The call takes the same path
 * as any client's; its client has no capabilities. An abort signal cancels it. The API returns the
 * result as the server's own bytes.
 */

import { randomUUID } from "node:crypto";
import { memberText, toDisplayText } from "../json/json-text.ts";
import { Call, type Client } from "../protocol/call.ts";
import { errorTable, GoblinError } from "../protocol/errors.ts";
import { type Answer, type ErrorAnswer, failure, rawText, shownCode } from "../protocol/json-rpc.ts";
import type { Principal } from "../protocol/principal.ts";
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
  return { code: String(shownCode(answer)), message: toDisplayText(message) };
}

function clientFor({ name, principal }: Caller): Client {
  const key = `api-${randomUUID()}`;
  const account = principal.id || "api";
  return {
    key,
    // Its connections are its own and are released with it, like those of a session.
    hasSession: true,
    scope: key,
    party: key,
    account,
    meter: account,
    who: principal,
    principal: principal.id,
    taskOwner: principal.id,
    protocolVersion: "2025-11-25",
    capabilities: {},
    info: { name },
    logLevel: undefined,
    ask: async (method) =>
      failure(new GoblinError("UNSUPPORTED_BY_CLIENT", `A call through the ${name} cannot answer ${method}`)),
  };
}

/** An error of the server's own counts as a bad answer. */
function refusal(answer: ErrorAnswer): ApiFailure {
  const { code, message } = errorOf(answer);
  return new ApiFailure(errorTable[answer.symbol ?? "BACKEND_ERROR"].http, code, message);
}
