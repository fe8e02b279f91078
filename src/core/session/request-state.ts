/**
 * The state that a client brings back when it repeats a request with answers.
 *
 * A server without a handshake makes its own state. It never leaves the gateway as it is: behind a
 * shared connection, the server cannot tell who brings it back. The client gets it sealed
 * (AES-256-GCM, a key that survives restarts and that replicas share) and bound to the principal,
 * the endpoint, the server and the request. The server gets its own state back byte for byte.
 *
 * Invariant: no state reaches a server unless the gateway sealed it for this very request.
 */
import { createHash } from "node:crypto";
import { type ByteSealer, createByteSealer } from "../../lib/crypto/byte-sealer.ts";
import { canonical } from "../../lib/json/canonical.ts";
import { dropMembers, memberText } from "../../lib/json/json-text.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";

const PREFIX = "goblin-server.";

/** The members of params that differ between the rounds of one request. */
const ROUND_MEMBERS = new Set(["_meta", "inputResponses", "requestState"]);

interface SealedState {
  readonly binding: string;
  /** The server's own state, in JSON. */
  readonly own: string;
}

export class ServerStates {
  readonly #sealer: ByteSealer;

  constructor(key: Buffer) {
    this.#sealer = createByteSealer(key);
  }

  /** Returns the state for the client, in JSON. `own`: the server's, in JSON. */
  seal(own: string, call: Call, serverId: string): string {
    const state: SealedState = { binding: bindingOf(call, serverId), own };
    return JSON.stringify(PREFIX + this.#sealer.seal(JSON.stringify(state)).toString("base64url"));
  }

  /**
   * Returns the server's own state, in JSON; undefined if the client brought none.
   * @throws GoblinError if the state was not sealed for this request and this server
   */
  open(call: Call, serverId: string): string | undefined {
    const state = call.params["requestState"];
    if (state === undefined) return undefined;
    const opened = typeof state === "string" ? this.#unseal(state) : undefined;
    if (!opened || opened.binding !== bindingOf(call, serverId)) throw notValid();
    return opened.own;
  }

  #unseal(state: string): SealedState | undefined {
    if (!state.startsWith(PREFIX)) return undefined;
    const text = state.slice(PREFIX.length);
    const bytes = Buffer.from(text, "base64url");
    // Several texts decode to the same bytes; only one of them was sent.
    if (bytes.toString("base64url") !== text) return undefined;
    try {
      return JSON.parse(this.#sealer.open(bytes).toString("utf8")) as SealedState;
    } catch {
      return undefined;
    }
  }
}

/** The same refusal for every state that is not good, so that it says nothing about others. */
export function notValid(): GoblinError {
  return new GoblinError("INVALID_PARAMS", "requestState is not valid for this request");
}

/**
 * Identifies who asks for what. Numbers count as written, the order of members does not. Absent
 * arguments are the same as empty ones.
 */
export function bindingOf({ method, text, client }: Call, serverId?: string): string {
  const given = memberText(text, "arguments");
  const args = given === undefined || given === "null" ? "{}" : canonical(given);
  const rest = canonical(dropMembers(text, (key) => ROUND_MEMBERS.has(key) || key === "arguments"));
  const subject = JSON.stringify([client.principal, client.endpoint, method, serverId ?? null, rest, args]);
  return createHash("sha256").update(subject).digest("base64url");
}
