/** Connects to a server without a handshake, if it speaks this era. */

import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import { GoblinError } from "../../protocol/errors.ts";
import type { Peer } from "../peer.ts";
import { type ModernOptions, ModernPeer } from "./peer.ts";

export interface ModernConnectOptions extends ModernOptions {
  readonly connectMs: number;
}

/** Returns undefined if the server does not speak this era. Throws if the server is unreachable. */
export async function connectModern(options: ModernConnectOptions): Promise<Peer | undefined> {
  const peer = new ModernPeer(options);
  const { signal } = options;
  const onAbort = (): void => void peer.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // A server that does not answer may be waiting for a handshake.
    if (!signal.aborted && (await withTimeout(peer.open(), options.connectMs, false))) return peer;
    await peer.close();
    if (signal.aborted) throw new GoblinError("CANCELLED", "The connection is not wanted any more");
    return undefined;
  } catch (error) {
    await peer.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
