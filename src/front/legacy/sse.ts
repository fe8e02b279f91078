/**
 * The HTTP+SSE transport of 2024-11-05. `GET /sse` opens the stream and names the address to POST
 * to. `POST /messages?sessionId=…` carries the client's messages, and the stream carries the
 * answers.
 *
 * The session is the stream: when it breaks, everything it held is freed. A stream counts as a
 * session from the start, and ends if its client does not initialize in time.
 */

import { randomUUID } from "node:crypto";
import { Outbox } from "../../mcp/outbound/outbox.ts";
import { UnreadBudget } from "../../mcp/outbound/unread-budget.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import type { BodyBudget } from "../bodies/body-budget.ts";
import { classifyIncoming } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import { openEventStream } from "../event-stream.ts";
import type { HttpExchange } from "../http/exchange.ts";
import { type ReadOptions, readJson } from "../http/read-json.ts";
import { replyError, replyStopping, requestIn } from "../http/reply.ts";
import { type LargeMessage, LegacyChannel } from "./channel.ts";

interface OpenStream {
  readonly channel: LegacyChannel;
  readonly outbox: Outbox;
  readonly principal: Principal;
  readonly endpoint: string;
}

const KEEP_ALIVE_MS = 25_000;

export class SseFront {
  readonly #context: FrontContext;
  readonly #reading: ReadOptions;
  readonly #open = new Map<string, OpenStream>();
  #isRefusing = false;
  /** What names a stream, and whether this process has it. */
  readonly named = {
    idOf: (exchange: HttpExchange): string | undefined => exchange.query("sessionId"),
    isOpen: (id: string): boolean => this.#open.has(id),
  };

  constructor(context: FrontContext, bodies: BodyBudget) {
    this.#context = context;
    this.#reading = { ...context, bodies };
  }

  get(exchange: HttpExchange, principal: Principal): void {
    const account = principal.id || exchange.network;
    const slot = this.#reserve(exchange, account);
    if (!slot) return;
    const { place } = exchange;
    const id = this.#context.continuity.own(randomUUID());
    const outbox = new Outbox({ budget: UnreadBudget.of(this.#context) });
    const channel = new LegacyChannel({
      context: this.#context,
      principal,
      account,
      id,
      place,
      slot,
      write: (text) => outbox.push(text),
    });
    const { receiveMs } = this.#context.config.current.timeouts;
    const unused = setTimeout(() => channel.isOpen || outbox.end(), receiveMs).unref();
    this.#open.set(id, { channel, outbox, principal, endpoint: place.endpoint });
    openEventStream(exchange, outbox, {
      keepAliveMs: KEEP_ALIVE_MS,
      retryHint: this.#context.retryHint,
      greeting: `event: endpoint\ndata: /messages${place.endpoint}?sessionId=${id}\n\n`,
      closed: () => {
        clearTimeout(unused);
        this.#open.delete(id);
        channel.close();
      },
    });
  }

  post(exchange: HttpExchange, principal: Principal): void {
    const id = exchange.query("sessionId");
    if (id === undefined)
      return replyError(exchange, new GoblinError("INVALID_REQUEST", "The sessionId parameter is missing"));
    const open = this.#open.get(id);
    if (open?.principal.id !== principal.id || open.endpoint !== exchange.place.endpoint) {
      return replyError(exchange, new GoblinError("SESSION_NOT_FOUND", "Session not found: open /sse again"));
    }
    const { channel } = open;
    let large: LargeMessage | undefined;
    readJson({ exchange, principal }, this.#reading, (body) => {
      const incoming = classifyIncoming(body);
      const late = this.#isRefusing ? requestIn(incoming) : undefined;
      if (late !== undefined) return replyStopping(exchange, late);
      channel.identify(principal, exchange.place);
      exchange.reply(202, {});
      if ("batch" in incoming) channel.takeBatch(incoming.batch, large);
      else channel.take(incoming.message, large);
    });
    if (!exchange.hold) return;
    large = { hold: exchange.hold, early: channel.arrives((done) => exchange.onDone(done)) };
  }

  #reserve(exchange: HttpExchange, account: string): (() => void) | undefined {
    try {
      return this.#context.sessions.reserve(account);
    } catch (error) {
      replyError(exchange, error);
      return undefined;
    }
  }

  /** Refuses requests from now on. */
  refuse(): void {
    this.#isRefusing = true;
  }

  close(): void {
    this.revoke(() => false);
  }

  /** Ends the streams of principals that are no longer admitted. */
  revoke(isValid: (principal: Principal) => boolean): void {
    for (const [id, { outbox, channel, principal }] of this.#open) {
      if (isValid(principal)) continue;
      this.#open.delete(id);
      outbox.end();
      channel.close();
    }
  }
}
