/**
 * Handles messages that cannot be used. The requests that they may have answered fail at once,
 * instead of waiting for an answer that will never come. Reports quote only the start of the
 * message.
 */

import { idsAtEdges } from "../../lib/structures/lines.ts";
import type { LinkEvents } from "../links/link.ts";
import { GoblinError } from "../protocol/errors.ts";

type Told = Pick<LinkEvents, "waiting" | "failed" | "problem">;

const SHOWN_BYTES = 200;

/**
 * Handles a message with a malformed envelope. On a request's own stream it fails that request, no
 * matter which ids it names.
 */
export function failBroken(
  peer: Told,
  { ids, reason }: { readonly ids: readonly number[]; readonly reason: string },
  stream: number | undefined,
): void {
  const error = new GoblinError("BACKEND_ERROR", `The server's answer cannot be used: ${reason}`);
  failThose(peer, stream === undefined ? ids : [stream], error);
  peer.problem(`A message of the server cannot be used: ${reason}`);
}

/**
 * Handles bytes that are not JSON. Returns true if they arrived on a request's own stream and
 * failed that request.
 */
export function failUnreadable(peer: Told, bytes: Buffer, stream: number | undefined): boolean {
  const error = new GoblinError("BACKEND_ERROR", "The server's answer is not valid JSON");
  if (stream !== undefined && failThose(peer, [stream], error)) return true;
  failThose(peer, idsAtEdges(bytes), error);
  peer.problem("Not a JSON message", bytes.toString("utf8", 0, SHOWN_BYTES));
  return false;
}

function failThose(peer: Told, ids: readonly number[], error: GoblinError): boolean {
  const waiting = ids.filter((id) => peer.waiting(id));
  for (const id of waiting) peer.failed(id, error, "over");
  return waiting.length > 0;
}
