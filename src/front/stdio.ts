/**
 * The gateway on stdin and stdout, for clients that start it themselves: one JSON message per line.
 * Only messages go to stdout. A large line is parsed in slices; later lines wait for it. `closed`
 * resolves when stdin ends, or when too much output waits for the client.
 */

import type { Readable, Writable } from "node:stream";
import { oneLine } from "../json/json-text.ts";
import { Outbox, type Sink } from "../outbound/outbox.ts";
import { UnreadBudget } from "../outbound/unread-budget.ts";
import { GoblinError } from "../protocol/errors.ts";
import { answerText, failure, type Inbound } from "../protocol/json-rpc.ts";
import { bodyTooLarge } from "../protocol/limit-exceeded.ts";
import { ANYONE, type Place } from "../protocol/principal.ts";
import { idAtEdges, LineSplitter } from "../structures/lines.ts";
import { textOf } from "../text/utf8.ts";
import { inSlices } from "../timing/slices.ts";
import { classifyIncoming, type IncomingBody } from "./classify.ts";
import type { FrontContext } from "./context.ts";
import { bodyInSlices, LARGE_BODY, parseProblem } from "./large-body.ts";
import { LegacyChannel } from "./legacy/channel.ts";
import { ModernChannel } from "./modern/channel.ts";

/** The writer of this stream is one client. */
const ACCOUNT = "stdio";

export interface StdioFront {
  readonly closed: Promise<void>;
  /** Refuses requests from now on, so that those that come too late are answered all the same. */
  refuse(): void;
  close(): void;
}

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The endpoint that the client would use over HTTP. */
  readonly endpoint?: string | undefined;
}

/** Throws if there is no such endpoint. */
export function serveStdio(context: FrontContext, { input, output, endpoint = "" }: StdioOptions): StdioFront {
  const placeNow = (): Place | undefined => context.access.placeOf(endpoint, ANYONE);
  const place = placeNow();
  if (!place) throw new GoblinError("INVALID_REQUEST", `There is no endpoint /mcp${endpoint}`);
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
  const legacy = new LegacyChannel({ context, principal: ANYONE, place, account: ACCOUNT, write });
  const modern = new ModernChannel(context, { account: ACCOUNT, place: placeNow, write });
  const unreadable = (error: unknown): void => legacy.unreadable(parseProblem(error, "the message"));
  const take = (bytes: Buffer): void => {
    let line: string;
    let value: unknown;
    try {
      line = textOf(bytes);
      if (line.trim() === "") return;
      value = JSON.parse(line);
    } catch (error) {
      return unreadable(error);
    }
    takeParsed({ value, text: line });
  };
  const takeParsed = (body: IncomingBody): void => {
    const incoming = classifyIncoming(body);
    if (isRefusing) return refuseAll("batch" in incoming ? incoming.batch.messages() : [incoming.message]);
    if (!("batch" in incoming) && incoming.era === "modern") context.sole?.hasNoSession();
    if ("batch" in incoming) legacy.takeBatch(incoming.batch);
    else if (isCancel(incoming.message) && modern.cancel(incoming.message.params)) return;
    else (incoming.era === "modern" ? modern : legacy).take(incoming.message);
  };
  const refuseAll = (messages: readonly Inbound[]): void => {
    const answer = failure(new GoblinError("BACKEND_UNAVAILABLE", "The gateway is shutting down"));
    for (const message of messages) if (message.kind === "request") write(answerText(message.id, answer));
  };
  /** The lines that came with a large one, while that is parsed. Messages keep their order. */
  const waiting: Buffer[] = [];
  let isParsing = false;
  const inOrder = (bytes: Buffer): void => {
    if (isParsing) waiting.push(bytes);
    else if (bytes.length <= LARGE_BODY) take(bytes);
    else {
      isParsing = true;
      input.pause();
      inSlices(bodyInSlices(bytes, () => !isClosed))
        .then(
          (body) => isClosed || takeParsed(body),
          (error) => isClosed || unreadable(error),
        )
        .finally(goOn);
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
  return { closed, refuse, close };
}

/** A cancellation names a request but no era, so it goes to the front that has the request. */
function isCancel(message: Inbound): message is Extract<Inbound, { kind: "notification" }> {
  return message.kind === "notification" && message.method === "notifications/cancelled";
}
