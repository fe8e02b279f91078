/**
 * What becomes of a server's message that is over `limits.resultBytes`: it was dropped, the request
 * that it would have answered fails with an error that says so, and the connection goes on. The
 * same for every kind of link.
 */

import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";
import type { LinkEvents } from "./link.ts";

/** What a link may take of its server, and whom it tells when that is too much. */
export interface MessageLimit {
  readonly messageCap: number;
  readonly onLimit: OnLimit;
}

/**
 * `id` is the request, where it can be told; otherwise the start of the message is all there is to
 * report.
 */
export function tooLarge(
  events: Pick<LinkEvents, "failed" | "problem">,
  { messageCap, onLimit }: MessageLimit,
  dropped: { readonly id: number | undefined; readonly head?: string },
): void {
  onLimit("resultBytes");
  const what = "a message of the server is too large and was dropped";
  const error = limitExceeded({ limit: "resultBytes", value: messageCap, what, advice: "ask for less at once" });
  if (dropped.id === undefined) events.problem(error.message, dropped.head);
  else events.failed(dropped.id, error, "over");
}
