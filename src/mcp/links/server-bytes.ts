/**
 * The memory that one HTTP server may cost over all its connections: large requests that it has not
 * begun to answer, and large answers that it has not finished.
 *
 * Small messages are not counted: their number is limited, and counting would slow down every call.
 */
import type { Exchange } from "../../lib/http-client/exchange.ts";
import { ByteBudget } from "../../lib/structures/byte-budget.ts";
import type { GoblinError } from "../protocol/errors.ts";
import { limitExceeded } from "../protocol/limit-exceeded.ts";
import type { LinkEvents } from "./link.ts";
import type { MessageLimit } from "./too-large.ts";

/** Smaller requests are not counted. */
const LARGE = 64 * 1024;
/** All unfinished answers together may be as large as this many of the largest allowed. */
const ANSWERS = 4;

export interface ServerLimits {
  readonly messageCap: number;
  readonly unsentCap: number;
}

export class ServerBytes {
  /** The unfinished answers. */
  readonly answers: ByteBudget;
  readonly #requests: ByteBudget;
  readonly #sizes = new Map<Exchange, number>();

  constructor(limits: () => ServerLimits) {
    this.answers = new ByteBudget(() => ANSWERS * limits().messageCap);
    this.#requests = new ByteBudget(() => limits().unsentCap);
  }

  /** Returns why a request cannot be sent now. */
  refusal(text: string, { onLimit }: Pick<MessageLimit, "onLimit">): GoblinError | undefined {
    const { used, most } = this.#requests;
    if (text.length <= LARGE || used === 0 || used + text.length <= most) return undefined;
    onLimit("unsentBytes");
    // Not the server's failure: one client's large calls must not close it to others.
    const what = `the server has not begun to answer ${used} bytes of large requests`;
    return limitExceeded({ limit: "unsentBytes", value: most, what, advice: "wait for an answer" });
  }

  /** Counts a request until `taken`. */
  sent(exchange: Exchange, text: string): void {
    if (text.length <= LARGE) return;
    this.#requests.take(text.length, this.#requests.used);
    this.#sizes.set(exchange, text.length);
  }

  /** The server has begun its answer, or the exchange is over. */
  taken(exchange: Exchange): void {
    const size = this.#sizes.size > 0 ? this.#sizes.get(exchange) : undefined;
    if (size === undefined) return;
    this.#sizes.delete(exchange);
    this.#requests.giveBack(size);
  }
}

/** Handles an answer that the others of its server leave no room for. */
export function crowdedOut(
  events: Pick<LinkEvents, "failed" | "problem">,
  { messageCap, onLimit }: MessageLimit,
  id: number | undefined,
): void {
  onLimit("resultBytes");
  const what = "the unfinished answers of the server are too large together, and one was dropped";
  const error = limitExceeded({ limit: "resultBytes", value: messageCap, what, advice: "ask for less at once" });
  if (id === undefined) events.problem(error.message);
  else events.failed(id, error, "over");
}
