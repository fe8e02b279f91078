/**
 * Builds the `initialize` request and reads its answer: the server's description of itself, or a
 * refusal. Unknown protocol versions are rejected.
 */

import { recordOf } from "../../../lib/structures/record.ts";
import type { Link } from "../../links/link.ts";
import { legacyVersions, modernVersions } from "../../protocol/envelope.ts";
import { errorTable, GoblinError } from "../../protocol/errors.ts";
import type { ErrorAnswer, Raw } from "../../protocol/json-rpc.ts";
import { logText, MAX_PROBLEM_LENGTH } from "../../protocol/log-text.ts";
import type { PeerInfo } from "../peer.ts";
import { infoFrom, readDescription } from "../self-description.ts";

export interface HandshakeOptions {
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /**
   * What the server may ask for: everything on a shared connection, otherwise the client's own
   * capabilities.
   */
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export function initializeParams({ capabilities, clientInfo }: HandshakeOptions): string {
  return JSON.stringify({ protocolVersion: legacyVersions[0], capabilities, clientInfo });
}

export function readInitializeResult(raw: Raw): PeerInfo {
  const { protocolVersion, capabilities, serverInfo, instructions } = readDescription(raw);
  if (typeof protocolVersion !== "string" || !legacyVersions.includes(protocolVersion)) {
    const known = legacyVersions.join(", ");
    throw new GoblinError(
      "BACKEND_UNAVAILABLE",
      `The server speaks protocol version ${logText(protocolVersion)}; Goblin knows ${known}`,
    );
  }
  return infoFrom(protocolVersion, { capabilities, serverInfo, instructions });
}

/** The server answered `initialize` with an error: it is reachable, but may speak another era. */
export class HandshakeRefused extends GoblinError {
  /** The link that is still open, for an attempt in another era. */
  link: Link | undefined;
  /** It said that it speaks a version without a handshake. */
  speaksModern = false;
}

/** Why there was no handshake: the server refused it, or could not be asked. */
export function handshakeProblem({ raw, code, symbol, reason }: ErrorAnswer): GoblinError {
  const { message, data } = JSON.parse(raw) as { message?: unknown; data?: unknown };
  if (symbol !== undefined) {
    return new GoblinError("BACKEND_UNAVAILABLE", logText(message, MAX_PROBLEM_LENGTH), {
      reason: symbol === "LOGIN_REQUIRED" ? "login" : reason,
    });
  }
  const refused = new HandshakeRefused("BACKEND_UNAVAILABLE", `The handshake failed: ${logText(message)}`);
  const { supported } = recordOf(data);
  refused.speaksModern =
    code === errorTable.UNSUPPORTED_PROTOCOL_VERSION.rpc &&
    Array.isArray(supported) &&
    modernVersions.some((version) => supported.includes(version));
  return refused;
}
