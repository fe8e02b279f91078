/**
 * The HTTP+SSE transport of 2024-11-05: `GET /sse` opens the stream and names the address to POST
 * to; `POST /messages?sessionId=…` brings the client's messages, which are answered on the stream.
 * The session is the stream: when it breaks, everything it held is freed.
 */
import { randomUUID } from "node:crypto";
import { GoblinError } from "../../protocol/errors.ts";
import { oneLine } from "../../protocol/json-text.ts";
import { Outbox } from "../../session/outbox.ts";
import { classifyIncoming } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import { eventSink, type HttpExchange, STREAM_HEADERS } from "../http/exchange.ts";
import { readJson } from "../http/read-json.ts";
import { replyError } from "../http/reply.ts";
import { LegacyChannel } from "./channel.ts";

interface OpenStream {
  readonly channel: LegacyChannel;
  readonly outbox: Outbox;
  readonly principal: string;
}

const KEEP_ALIVE_MS = 25_000;

export class SseFront {
  readonly #context: FrontContext;
  readonly #open = new Map<string, OpenStream>();

  constructor(context: FrontContext) {
    this.#context = context;
  }

  get(x: HttpExchange, principal: string): void {
    const id = randomUUID();
    const outbox = new Outbox("s", this.#context);
    const channel = new LegacyChannel({
      context: this.#context,
      principal,
      id,
      write: (text) => outbox.push(oneLine(text)),
    });
    const stream = x.stream(STREAM_HEADERS, {
      drained: () => outbox.drained(),
      closed: () => {
        clearInterval(timer);
        this.#open.delete(id);
        channel.close();
      },
    });
    const timer = setInterval(() => stream.write(": keep-alive\n\n"), KEEP_ALIVE_MS).unref();
    stream.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
    outbox.open(eventSink(stream, { withIds: false, event: "message" }), undefined);
    this.#open.set(id, { channel, outbox, principal });
  }

  post(x: HttpExchange, principal: string): void {
    const id = x.query("sessionId");
    if (id === undefined)
      return replyError(x, 400, new GoblinError("INVALID_REQUEST", "The sessionId parameter is missing"));
    const open = this.#open.get(id);
    if (!open || open.principal !== principal) {
      return replyError(x, 404, new GoblinError("INVALID_REQUEST", "Session not found: open /sse again"));
    }
    readJson(x, this.#context, (body) => {
      x.reply(202, {});
      const incoming = classifyIncoming(body);
      if ("batch" in incoming) open.channel.takeBatch(incoming.batch);
      else open.channel.take(incoming.message);
    });
  }

  /** Ends all streams. */
  close(): void {
    this.revoke(() => false);
  }

  /** Ends the streams of those who are not let in any more. */
  revoke(isValid: (principal: string) => boolean): void {
    for (const [id, { outbox, channel, principal }] of this.#open) {
      if (isValid(principal)) continue;
      this.#open.delete(id);
      outbox.end();
      channel.close();
    }
  }
}
