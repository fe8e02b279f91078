/**
 * Handles a server message over `resultBytes`, for every kind of link. The message is
 * dropped, its request fails with an error that names the limit, and the connection stays open.
 */

import { limitExceeded, type OnLimit } from "../protocol/limit-exceeded.ts";
import type { LinkEvents } from "./link.ts";

/** The maximum size of a server's message, and the callback for violations. */
export interface MessageLimit {
  readonly messageCap: number;
  readonly onLimit: OnLimit;
}

/** `id`: the request, if known. Otherwise the start of the message is reported as a problem. */
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
