/** Connects to a server with a handshake, within a time limit. */

import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import { GoblinError } from "../../protocol/errors.ts";
import type { Peer } from "../peer.ts";
import { HandshakeRefused } from "./handshake.ts";
import { type LegacyOptions, LegacyPeer } from "./peer.ts";

export interface LegacyConnectOptions extends LegacyOptions {
  readonly connectMs: number;
  /** Keeps the link of a server that refuses the handshake, in the error. */
  readonly keepsLink?: boolean;
}

export async function connectLegacy(options: LegacyConnectOptions): Promise<Peer> {
  const peer = new LegacyPeer(options.events);
  const { signal } = options;
  const onAbort = (): void => void peer.close();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal?.aborted) throw new GoblinError("CANCELLED", "The connection is not wanted any more");
    const opened = await withTimeout(
      peer.open(options).then(() => true),
      options.connectMs,
      false,
    );
    if (!opened) throw new GoblinError("BACKEND_UNAVAILABLE", noHandshake(options.connectMs, peer.hint));
    return peer;
  } catch (error) {
    if (options.keepsLink && error instanceof HandshakeRefused) error.link = peer.release();
    else await peer.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function noHandshake(ms: number, hint: string | undefined): string {
  return `No handshake within ${ms} ms${hint === undefined ? "" : `: ${hint}`}`;
}
