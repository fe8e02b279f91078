/**
 * How many bytes of a connection the system has taken, so that two looks tell whether its client
 * reads. Node counts a write only when all of it was taken, and an encrypted one not before.
 */
import type { Socket } from "node:net";

/** Node's own members. An encrypted connection has those of what carries it. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
}

export function sentBytes(socket: Socket): number {
  const { _handle: own } = socket as { readonly _handle?: Handle | null };
  const { bytesWritten = 0, writeQueueSize = 0 } = own?._parent ?? own ?? {};
  return bytesWritten - writeQueueSize;
}
