/**
 * Sends a server's question to the client it belongs to. If the client is not known for certain,
 * the server gets an error. The gateway never guesses.
 */

import { recordOf } from "../../../lib/structures/record.ts";
import type { QuestionContext } from "../../../mcp/peers/peer.ts";
import type { Client } from "../../../mcp/protocol/call.ts";
import { GoblinError, LINKS_REQUIRED } from "../../../mcp/protocol/errors.ts";
import { type Answer, type ErrorAnswer, failure } from "../../../mcp/protocol/json-rpc.ts";
import type { SoleClient } from "../events.ts";

export interface Question extends QuestionContext {
  readonly serverId: string;
  readonly method: string;
  readonly params: string;
  /** The client whose own connection carried the question. */
  readonly owner: Client | undefined;
  /** The only client that there can be. */
  readonly sole: SoleClient | undefined;
}

export async function ask(question: Question): Promise<Answer> {
  const { serverId, method, params, origin, others, owner, sole, signal } = question;
  // The call takes precedence: the connection may have been made for an earlier request of its
  // client.
  if (typeof origin === "object") return origin.client.ask(method, params, { call: origin, others, signal });
  if (owner) return owner.ask(method, params, { call: undefined, signal });
  const answer = await sole?.ask(method, params, signal);
  if (answer?.ok) return answer;
  // The gateway has no roots. Servers ask for them right after the handshake, before any client is
  // there.
  if (method === "roots/list" && origin === "none") return { ok: true, raw: '{"roots":[]}' };
  if (answer) return answer;
  const why =
    origin === "several"
      ? "calls of several clients are under way on this shared connection, or were given up lately"
      : "no client's call is under way on this shared connection";
  const message = `${method}: ${why}; set "share": "session" for server "${serverId}" to give each client its own`;
  return failure(new GoblinError("UNDECIDABLE_CLIENT", message, { data: { serverId } }));
}

/** Returns the links that a question gives the client to open, by the server's own ids. */
export function linksIn({ method, params }: { readonly method: string; readonly params: string }): string[] {
  if (method !== "elicitation/create" || !params.includes('"elicitationId"')) return [];
  return idsOf([JSON.parse(params)]);
}

/** Returns those that the refusal of a call gives. */
export function linksInRefusal({ code, raw }: ErrorAnswer): string[] {
  if (code !== LINKS_REQUIRED) return [];
  const { elicitations } = recordOf(recordOf(JSON.parse(raw))["data"]);
  return Array.isArray(elicitations) ? idsOf(elicitations) : [];
}

function idsOf(elicitations: readonly unknown[]): string[] {
  return elicitations.flatMap((elicitation) => {
    const { elicitationId } = recordOf(elicitation);
    return typeof elicitationId === "string" ? [elicitationId] : [];
  });
}
