/**
 * What becomes of a message that cannot be used: it is nobody's answer. The requests that it may
 * have been meant for fail at once, as far as they can be told, and do not wait for an answer that
 * will not come. What is said of it names no more than its beginning.
 */

import type { LinkEvents } from "../links/link.ts";
import { GoblinError } from "../protocol/errors.ts";
import { idsAtEdges } from "../structures/lines.ts";

type Told = Pick<LinkEvents, "waiting" | "failed" | "problem">;

const SHOWN_BYTES = 200;

/**
 * A message whose envelope says too much or too little. On a stream of its own a message is that
 * request's, whatever ids it names.
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

/** Bytes that are no JSON. True: they were all that there was to say to a request of their own. */
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
