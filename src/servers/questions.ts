/**
 * Sends a server's question to the client it belongs to. If the client is not known for certain,
 * the server gets an error. The gateway never guesses.
 */
import type { Asked } from "../peers/peer.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Answer, failure } from "../protocol/json-rpc.ts";

export interface Question extends Asked {
  readonly serverId: string;
  readonly method: string;
  readonly params: string;
  /** The client whose own connection carried the question. */
  readonly owner: Client | undefined;
}

export async function ask({ serverId, method, params, origin, others, owner, signal }: Question): Promise<Answer> {
  // The call takes precedence: the connection may have been made for an earlier request of its
  // client.
  if (typeof origin === "object") return origin.client.ask(method, params, { call: origin, others, signal });
  if (owner) return owner.ask(method, params, { call: undefined, signal });
  // The gateway has no roots. Servers ask for them right after the handshake, before any client is
  // there.
  if (method === "roots/list" && origin === "none") return { ok: true, raw: '{"roots":[]}' };
  const why =
    origin === "several"
      ? "calls of several clients are under way on this shared connection, or were given up lately"
      : "no client's call is under way on this shared connection";
  const message = `${method}: ${why}; set "share": "session" for server "${serverId}" to give each client its own`;
  return failure(new GoblinError("UNDECIDABLE_CLIENT", message, { data: { serverId } }));
}
