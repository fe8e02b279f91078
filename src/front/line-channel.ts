/**
 * A client on two streams: one JSON message per line, in any era. Only messages go to the output. A
 * large line is parsed in slices; later lines wait for it. `closed` resolves when the input ends,
 * or when too much output waits for the client.
 */

import type { Readable, Writable } from "node:stream";
import { oneLine } from "../lib/json/json-text.ts";
import { idAtEdges, LineSplitter } from "../lib/structures/lines.ts";
import { textOf } from "../lib/text/utf8.ts";
import { inSlices } from "../lib/timing/slices.ts";
import { Outbox, type Sink } from "../mcp/outbound/outbox.ts";
import { UnreadBudget } from "../mcp/outbound/unread-budget.ts";
import { GoblinError } from "../mcp/protocol/errors.ts";
import { answerText, failure, type Id, type Inbound } from "../mcp/protocol/json-rpc.ts";
import { bodyTooLarge } from "../mcp/protocol/limit-exceeded.ts";
import type { Place, Principal } from "../mcp/protocol/principal.ts";
import { type BodyBudget, type BodyHold, bodiesTooLarge, SMALL_BODY } from "./bodies/body-budget.ts";
import { bodyInSlices, LARGE_BODY, parseProblem } from "./bodies/large-body.ts";
import { classifyIncoming, type IncomingBody } from "./classify.ts";
import type { FrontContext } from "./context.ts";
import { LegacyChannel } from "./legacy/channel.ts";
import { ModernChannel } from "./modern/channel.ts";

/** How much of a message shows its id. */
const EDGE = 96;

export interface LineChannel {
  readonly closed: Promise<void>;
  /** Refuses requests from now on, so that those that come too late are answered all the same. */
  refuse(): void;
  /** Writes a line that is no message. */
  tell(line: string): void;
  close(): void;
}

export interface LineChannelOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly principal: Principal;
  /** Returns where its client is now; undefined: nowhere any more. */
  readonly placeNow: () => Place | undefined;
  readonly place: Place;
  readonly account: string;
  /** Gives up what was reserved for its session. */
  readonly slot?: () => void;
  /** Counts large messages against the account. */
  readonly bodies?: BodyBudget;
  /**
   * Takes a request that comes too late; all other messages are handled as before. Without it,
   * they are dropped, and the request gets an error.
   */
  readonly refused?: (id: Id) => void;
}

export function serveLines(context: FrontContext, options: LineChannelOptions): LineChannel {
  const { input, output, principal, place, placeNow, account, slot, bodies, refused } = options;
  let isFull = false;
  const sink: Sink = {
    get isFull() {
      return isFull && !isClosed;
    },
    write: (text) => {
      isFull = !output.write(`${oneLine(text)}\n`);
    },
    end() {},
    cut: () => close(),
  };
  const outbox = new Outbox({ budget: UnreadBudget.of(context) });
  const write = (text: string): void => outbox.push(text);
  const legacy = new LegacyChannel({ context, principal, place, account, write, ...(slot && { slot }) });
  const modern = new ModernChannel(context, { principal, account, place: placeNow, write });
  const unreadable = (error: unknown): void => legacy.unreadable(parseProblem(error, "the message"));
  const take = (bytes: Buffer, hold: BodyHold | undefined): void => {
    let body: IncomingBody;
    try {
      const text = textOf(bytes);
      if (text.trim() === "") return;
      body = { value: JSON.parse(text), text };
    } catch (error) {
      return unreadable(error);
    }
    takeParsed(body, hold);
  };
  const takeParsed = (body: IncomingBody, hold: BodyHold | undefined): void => {
    const incoming = classifyIncoming(body);
    const large = hold && { hold, early: undefined };
    if (isRefusing) {
      const messages = "batch" in incoming ? incoming.batch.messages() : [incoming.message];
      for (const message of messages) if (message.kind === "request") refuseOne(message.id);
      if (!refused || "batch" in incoming || incoming.message.kind === "request") return;
    }
    if (!("batch" in incoming) && incoming.era === "modern") context.sole?.hasNoSession();
    if ("batch" in incoming) legacy.takeBatch(incoming.batch, large);
    else if (isCancel(incoming.message) && modern.cancel(incoming.message.params)) return;
    else (incoming.era === "modern" ? modern : legacy).take(incoming.message, large);
  };
  const refuseOne = (id: Id): void => {
    if (refused) return refused(id);
    write(answerText(id, failure(new GoblinError("BACKEND_UNAVAILABLE", "The gateway is shutting down"))));
  };
  /** The lines that came with a large one, while that is parsed. Messages keep their order. */
  const waiting: Buffer[] = [];
  let isParsing = false;
  const inOrder = (bytes: Buffer): void => {
    if (isParsing) return void waiting.push(bytes);
    const hold = bytes.length > SMALL_BODY ? bodies?.hold(account) : undefined;
    if (hold && !hold.take(bytes.length)) return tooLarge(bytes);
    if (bytes.length <= LARGE_BODY) {
      take(bytes, hold);
      hold?.read();
    } else {
      isParsing = true;
      input.pause();
      inSlices(bodyInSlices(bytes, () => !isClosed))
        .then(
          (body) => isClosed || takeParsed(body, hold),
          (error) => isClosed || unreadable(error),
        )
        .finally(() => {
          hold?.read();
          goOn();
        });
    }
  };
  const goOn = (): void => {
    isParsing = false;
    while (!isParsing && !isClosed && waiting.length > 0) inOrder(waiting.shift()!);
    if (isParsing || isClosed) return;
    if (hasEnded) close();
    else input.resume();
  };
  const cap = context.config.current.limits.bodyBytes;
  const tooLarge = (bytes: Buffer): void => {
    context.onLimit("bodyBytes");
    const [head, tail] = [bytes.subarray(0, EDGE), bytes.subarray(-EDGE)].map((edge) => edge.toString("latin1"));
    write(answerText(idAtEdges(head!, tail!) ?? null, failure(bodiesTooLarge(cap))));
  };
  const lines = new LineSplitter({
    cap,
    line: inOrder,
    overflow: (head, tail) => {
      context.onLimit("bodyBytes");
      write(answerText(idAtEdges(head, tail) ?? null, failure(bodyTooLarge(cap))));
    },
  });
  let isClosed = false;
  let isRefusing = false;
  let hasEnded = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = () => {
      isClosed = true;
      input.pause();
      modern.close();
      legacy.close();
      // Hands the queued messages to the output stream, which delivers them.
      outbox.drained();
      resolve();
    };
  });
  input.on("data", (chunk: Buffer) => lines.push(chunk));
  const end = (): void => {
    hasEnded = true;
    if (!isParsing) close();
  };
  input.once("end", end);
  input.once("close", end);
  input.once("error", end);
  output.on("error", close);
  output.on("drain", () => {
    isFull = false;
    outbox.drained();
  });
  outbox.open(sink);
  const refuse = (): void => {
    isRefusing = true;
  };
  return { closed, refuse, tell: write, close };
}

/** A cancellation names a request but no era, so it goes to the front that has the request. */
function isCancel(message: Inbound): message is Extract<Inbound, { kind: "notification" }> {
  return message.kind === "notification" && message.method === "notifications/cancelled";
}
