/**
 * Reads the messages that a link delivers, for the peers of every era: an answer settles its
 * request, and requests and notifications of the server go to the peer.
 *
 * Invariant: messages of one stream keep their order, large ones too. A message that cannot be used
 * fails the requests that it may have answered, and never throws into the link.
 */
import { skipBlank } from "../../lib/json/json-scan.ts";
import { elementSpans } from "../../lib/json/json-text.ts";
import type { LinkEvents } from "../links/link.ts";
import type { Call } from "../protocol/call.ts";
import { messageOf } from "../protocol/errors.ts";
import { type Frame, frameOf, LARGE_FRAME, readFrame } from "../protocol/frame.ts";
import { LargeFrames } from "./large-frames.ts";
import type { Pending } from "./pending.ts";
import { failBroken, failUnreadable } from "./unusable.ts";

export type RequestFrame = Extract<Frame, { kind: "request" }>;
export type NotificationFrame = Extract<Frame, { kind: "notification" }>;

/** How a message arrived: the request whose answer stream carried it, and that request's call. */
export interface Arrival {
  readonly stream: number | undefined;
  readonly call: Call | undefined;
}

export interface ReceiverOptions {
  readonly pending: Pending;
  /** The peer, as its link sees it. */
  readonly peer: Pick<LinkEvents, "waiting" | "failed" | "problem">;
  /** Returns whether the gateway has closed the connection. */
  readonly isClosed: () => boolean;
  /** Whether one message may be an array of several. */
  readonly readsBatches: boolean;
  readonly request: (frame: RequestFrame, arrival: Arrival) => void;
  readonly notification: (frame: NotificationFrame, arrival: Arrival) => void;
}

const MESSAGE_START = '{"jsonrpc":"2.0"';
const ARRAY_START = 91;

export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #large = new LargeFrames();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Whether messages of this stream are still being read. */
  isReading(stream: number | undefined): boolean {
    return this.#large.isReading(stream);
  }

  /** Resolves when every message that arrived was handled; undefined if none is being read. */
  get settled(): Promise<unknown> | undefined {
    return this.#large.settled;
  }

  receive(bytes: Buffer, stream: number | undefined, call: Call | undefined): void {
    const arrival = { stream, call };
    if (bytes.length > LARGE_FRAME || this.#large.isReading(stream)) {
      return this.#large.read(bytes, stream, (frame, own) => this.#read(frame, own, arrival));
    }
    this.#read(frameOf(bytes), bytes, arrival);
  }

  /** `frame` is undefined if the bytes are not JSON. */
  #read(frame: Frame | undefined, bytes: Buffer, arrival: Arrival): void {
    if (!frame) return this.#unreadable(bytes, arrival);
    try {
      if (frame.kind === "invalid" && this.#options.readsBatches && isArray(bytes)) this.#batch(bytes, arrival);
      else this.#take(frame, arrival);
    } catch (error) {
      this.#options.peer.problem(`A message of the server cannot be processed: ${messageOf(error)}`);
    }
  }

  #batch(bytes: Buffer, arrival: Arrival): void {
    const text = bytes.toString("utf8");
    for (const { start, end } of elementSpans(text, 0)) {
      this.#take(readFrame(Buffer.from(text.slice(start, end))), arrival);
    }
  }

  #unreadable(bytes: Buffer, { stream, call }: Arrival): void {
    // A server that broke off in the middle of a message may have written a whole one on the same
    // line.
    const whole = bytes.lastIndexOf(MESSAGE_START);
    if (failUnreadable(this.#options.peer, whole > 0 ? bytes.subarray(0, whole) : bytes, stream)) return;
    if (whole > 0) this.receive(bytes.subarray(whole), stream, call);
  }

  #take(frame: Frame, arrival: Arrival): void {
    const { peer, pending } = this.#options;
    switch (frame.kind) {
      case "response":
        if (typeof frame.id !== "number" || !pending.settle(frame.id, frame.answer)) this.#unexpected(frame.id);
        return;
      case "request":
        return this.#options.request(frame, arrival);
      case "notification":
        return this.#options.notification(frame, arrival);
      case "broken":
        return failBroken(peer, frame, arrival.stream);
      case "invalid":
        return peer.problem(`Not a JSON-RPC message: ${frame.reason}`);
    }
  }

  #unexpected(id: unknown): void {
    // The requests of a connection that the gateway closes are given up. They may be answered yet.
    if (this.#options.isClosed()) return;
    const reason = this.#options.pending.unexpectedAnswerReason(id);
    if (reason !== undefined) this.#options.peer.problem(reason);
  }
}

function isArray(bytes: Buffer): boolean {
  return bytes[skipBlank(bytes, 0, bytes.length)] === ARRAY_START;
}
