/**
 * Hands the messages of a link's exchanges to its listener, under the ids of their requests, and
 * keeps the limits on a server's answers. POSTs, resumed streams and the standing stream share it.
 */
import type { Exchange, ExchangeHandler } from "../../../lib/http-client/exchange.ts";
import { idAtEdges } from "../../../lib/structures/lines.ts";
import type { Call } from "../../protocol/call.ts";
import type { LinkEvents } from "../link.ts";
import { crowdedOut, type ServerBytes } from "../server-bytes.ts";
import type { LinkTap } from "../tap.ts";
import { type MessageLimit, tooLarge } from "../too-large.ts";

export type MessageReader = Pick<ExchangeHandler, "cap" | "budget" | "crowded" | "message" | "overflow">;

export interface ReadingLimits extends MessageLimit {
  /** Shared by all links to the server. */
  readonly bytes: ServerBytes;
}

export function messageReader(events: LinkEvents, limits: ReadingLimits, tap: LinkTap | undefined): MessageReader {
  return {
    cap: limits.messageCap,
    budget: limits.bytes.answers,
    crowded: ({ id }) => crowdedOut(events, limits, id),
    message: (x, bytes) => {
      if (tap?.isOn) tap.received(bytes, callOf(x));
      events.message(bytes, x.id, callOf(x));
    },
    overflow: ({ id }, head, tail) => tooLarge(events, limits, { id: id ?? idAtEdges(head, tail), head }),
  };
}

/** Returns the call that the link attached to its request. */
export function callOf({ about }: Exchange): Call | undefined {
  return about as Call | undefined;
}
