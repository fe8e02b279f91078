/**
 * A Peer for the protocol versions with a handshake, 2024-11-05 to 2025-11-25: `initialize`, then
 * requests in both directions.
 *
 * A client's progress token never leaves the gateway. Each request gets our own token, and the
 * client's token is restored in notifications. A message on a request's stream belongs to that
 * request's call, even after its answer. A message without a stream goes to a call only if no other
 * party can be meant. The peer never guesses.
 */

import { skipBlank } from "../../json/json-scan.ts";
import { dropMembers, elementSpans, memberSpan, setMember, toDisplayText } from "../../json/json-text.ts";
import type { Fate, Link, LinkEvents, OpenLink } from "../../links/link.ts";
import type { Call, CancelReason } from "../../protocol/call.ts";
import { META_PREFIX } from "../../protocol/envelope.ts";
import { GoblinError, messageOf } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Frame, frameOf, LARGE_FRAME, readFrame } from "../../protocol/frame.ts";
import {
  type Answer,
  answerText,
  failure,
  notificationText,
  paramsText,
  requestText,
} from "../../protocol/json-rpc.ts";
import { severity } from "../../protocol/log-levels.ts";
import { withTimeout } from "../../timing/with-timeout.ts";
import { givenUp, whyGivenUp } from "../given-up.ts";
import { LargeFrames } from "../large-frames.ts";
import { OpenQuestions } from "../open-questions.ts";
import { passLog, passOther, passProgress, passTask } from "../passed-on.ts";
import type { Peer, PeerEvents, PeerInfo } from "../peer.ts";
import { Pending } from "../pending.ts";
import { failBroken, failUnreadable } from "../unusable.ts";
import {
  type HandshakeOptions,
  HandshakeRefused,
  handshakeProblem,
  initializeParams,
  readInitializeResult,
} from "./handshake.ts";

export interface LegacyOptions extends HandshakeOptions {
  readonly open: OpenLink;
  readonly events: PeerEvents;
  readonly connectMs: number;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Keeps the link of a server that refuses the handshake, in the error. */
  readonly keepsLink?: boolean;
  /** Refuses a server that keeps no session: it could not recognize the answer to a question. */
  readonly needsSession?: boolean;
}

type RequestFrame = Extract<Frame, { kind: "request" }>;
type NotificationFrame = Extract<Frame, { kind: "notification" }>;

const SET_LEVEL_MS = 1000;
const MESSAGE_START = '{"jsonrpc":"2.0"';

export async function connectLegacy(options: LegacyOptions): Promise<Peer> {
  const peer = new LegacyPeer(options.events);
  const { signal } = options;
  const giveUp = (): void => void peer.close();
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    if (signal?.aborted) throw new GoblinError("CANCELLED", "The connection is not wanted any more");
    const opened = await withTimeout(
      peer.open(options).then(() => true),
      options.connectMs,
      false,
    );
    if (!opened) throw new GoblinError("BACKEND_UNAVAILABLE", noHandshake(options.connectMs, peer.hint));
    return peer;
  } catch (error) {
    if (options.keepsLink && error instanceof HandshakeRefused) error.link = peer.release();
    else await peer.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

function noHandshake(ms: number, hint: string | undefined): string {
  return `No handshake within ${ms} ms${hint === undefined ? "" : `: ${hint}`}`;
}

class LegacyPeer implements Peer, LinkEvents {
  info: PeerInfo = { protocolVersion: "", capabilities: {}, serverInfo: {}, instructions: undefined };
  readonly #events: PeerEvents;
  readonly #pending = new Pending();
  readonly #large = new LargeFrames();
  /** The server's open questions, kept so that the server can cancel them. */
  readonly #asked = new OpenQuestions();
  #link: Link | undefined;
  /** The minimum severity of log messages that the server was last asked for. */
  #level = Number.POSITIVE_INFINITY;
  #opened = false;
  #ended = false;

  constructor(events: PeerEvents) {
    this.#events = events;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** What the server said in place of an answer. */
  get hint(): string | undefined {
    return this.#link?.hint;
  }

  async open(options: LegacyOptions): Promise<void> {
    const link = await options.open(this, options.signal);
    this.#link = link;
    if (this.#ended) await link.close();
    const answer = await this.request("initialize", initializeParams(options));
    if (!answer.ok) throw handshakeProblem(answer);
    this.info = readInitializeResult(answer.raw);
    if (options.needsSession && !link.hasSession) {
      throw new HandshakeRefused("BACKEND_UNAVAILABLE", "The server keeps no session");
    }
    link.established({ "mcp-protocol-version": this.info.protocolVersion });
    await new Promise<void>((accepted) => link.send(notificationText("notifications/initialized"), { accepted }));
    this.#opened = true;
  }

  request(method: string, params: string, flight?: Flight): Promise<Answer> {
    const call = flight?.call;
    const link = this.#link;
    if (this.#ended || !link) {
      return Promise.resolve({
        ...failure(new GoblinError("BACKEND_UNAVAILABLE", "The connection is closed")),
        unsent: true,
      });
    }
    if (call?.params["requestState"] !== undefined) {
      return Promise.resolve(failure(new GoblinError("INVALID_PARAMS", "requestState is not valid for this request")));
    }
    if (call?.cancelled) return Promise.resolve(givenUp(call.cancelled));
    if (method === "logging/setLevel") this.#level = severity(toDisplayText(JSON.parse(params).level));
    const level = call?.client.logLevel;
    const wanted = level === undefined ? -1 : severity(level);
    if (wanted !== -1 && wanted < this.#level && "logging" in this.info.capabilities) {
      // A call may ask for a lower level than all sessions. Clients that did not ask do not get
      // these messages.
      const set = this.request("logging/setLevel", JSON.stringify({ level }));
      const givenUp = new Promise<void>((resolve) => call?.onCancel(() => resolve()));
      return Promise.race([withTimeout(set, SET_LEVEL_MS, undefined), givenUp]).then(() =>
        this.request(method, params, flight),
      );
    }
    return new Promise((resolve) => {
      const id = this.#pending.nextId();
      this.#pending.add(id, flight, resolve);
      call?.onCancel((reason) => this.#cancel(id, call, reason));
      const text = requestText(id, method, call ? outgoingParams(params, call, id) : params);
      link.send(text, call?.trace ? { id, call, headers: call.trace } : { id, call });
    });
  }

  async probe(): Promise<boolean> {
    await this.request("ping", "{}");
    return !this.#ended;
  }

  notify(method: string, params?: string): void {
    this.#link?.send(notificationText(method, params));
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#pending.failAll(new GoblinError("BACKEND_UNAVAILABLE", "The connection was closed"));
    this.#dropQuestions();
    await this.#link?.close();
  }

  /** Ends the peer without closing its link. */
  release(): Link | undefined {
    const link = this.#link;
    this.#link = undefined;
    this.#ended = true;
    return link;
  }

  waiting(id: number): boolean {
    return this.#pending.has(id) && !this.#large.isReading(id);
  }

  failed(id: number, error: GoblinError, fate: Fate): void {
    const answer = { ...failure(error), unsent: fate === "unsent" };
    if (fate === "unknown") this.#pending.giveUp(id, answer);
    else this.#pending.settle(id, answer);
  }

  closed(error: GoblinError, renew = false): void {
    const settled = this.#large.settled;
    if (settled) return void settled.then(() => this.closed(error, renew));
    if (!renew) this.#pending.failAll(error);
    if (this.#ended) return;
    this.#ended = true;
    this.#dropQuestions();
    if (this.#opened) this.#events.closed(error, renew);
  }

  missed(): void {
    this.#events.missed?.();
  }

  problem(message: string, detail?: string): void {
    this.#events.problem(message, detail);
  }

  message(bytes: Buffer, stream: number | undefined, call?: Call): void {
    if (bytes.length > LARGE_FRAME || this.#large.isReading(stream)) {
      return this.#large.read(bytes, stream, (frame, own) => this.#read(frame, own, { stream, call }));
    }
    this.#read(frameOf(bytes), bytes, { stream, call });
  }

  /** `frame` is undefined if the bytes are not JSON. */
  #read(
    frame: Frame | undefined,
    bytes: Buffer,
    { stream, call }: { readonly stream: number | undefined; readonly call: Call | undefined },
  ): void {
    if (!frame) return this.#unreadable(bytes, stream, call);
    try {
      if (frame.kind === "invalid" && bytes[skipBlank(bytes, 0, bytes.length)] === 91) this.#batch(bytes, stream, call);
      else this.#take(frame, stream, call);
    } catch (error) {
      this.#events.problem(`A message of the server cannot be processed: ${messageOf(error)}`);
    }
  }

  /** Handles a batch. Servers of 2025-03-26 may answer with one. */
  #batch(bytes: Buffer, stream: number | undefined, call: Call | undefined): void {
    const text = bytes.toString("utf8");
    for (const { start, end } of elementSpans(text, 0)) {
      this.#take(readFrame(Buffer.from(text.slice(start, end))), stream, call);
    }
  }

  #unreadable(bytes: Buffer, stream: number | undefined, call: Call | undefined): void {
    // A server that broke off in the middle of a message may have written a whole one on the same
    // line.
    const whole = bytes.lastIndexOf(MESSAGE_START);
    if (failUnreadable(this, whole > 0 ? bytes.subarray(0, whole) : bytes, stream)) return;
    if (whole > 0) this.message(bytes.subarray(whole), stream, call);
  }

  #unexpected(id: unknown): void {
    // The requests of a connection that the gateway closes are given up. They may be answered yet.
    if (this.#ended) return;
    const unexpectedAnswerReason = this.#pending.unexpectedAnswerReason(id);
    if (unexpectedAnswerReason !== undefined) this.#events.problem(unexpectedAnswerReason);
  }

  #take(frame: Frame, stream: number | undefined, call: Call | undefined): void {
    switch (frame.kind) {
      case "response":
        if (typeof frame.id === "number" && this.#pending.settle(frame.id, frame.answer)) return;
        this.#unexpected(frame.id);
        return;
      case "request":
        void this.#answer(frame, stream, call);
        return;
      case "notification":
        return this.#notified(frame, stream, call);
      case "broken":
        return failBroken(this, frame, stream);
      case "invalid":
        return this.#events.problem(`Not a JSON-RPC message: ${frame.reason}`);
    }
  }

  async #answer(frame: RequestFrame, stream: number | undefined, call: Call | undefined): Promise<void> {
    const { id, method, text } = frame;
    if (method === "ping") return this.#link?.send(answerText(id, { ok: true, raw: "{}" }));
    const origin = stream === undefined ? this.#pending.asker() : (call ?? "none");
    let signal: AbortSignal;
    try {
      signal = this.#asked.add(id, typeof origin === "object" ? origin : undefined);
    } catch (error) {
      return this.#link?.send(answerText(id, failure(error)));
    }
    const flights = this.#pending.waitingFor(origin, stream);
    for (const { deadline } of flights) deadline?.asks();
    const others = flights.length > 1 ? flights.map(({ call }) => call).filter((call) => call !== origin) : undefined;
    const answer = await this.#events.ask(method, paramsText(text), { origin, others, signal }).catch(failure);
    for (const { deadline } of flights) deadline?.answered(flights.length === 1);
    if (!this.#asked.answered(id, signal)) return;
    this.#link?.send(answerText(id, answer));
  }

  /** Cancels the server's open questions: their answers can no longer be delivered. */
  #dropQuestions(): void {
    this.#asked.takeBackAll("The server has gone");
  }

  #notified(frame: NotificationFrame, stream: number | undefined, from: Call | undefined): void {
    const { method, params, text } = frame;
    switch (method) {
      case "notifications/progress":
        return passProgress(this.#pending, frame);
      case "notifications/message":
        return passLog(frame, { events: this.#events, pending: this.#pending, stream, call: from });
      case "notifications/resources/updated":
        if (typeof params["uri"] === "string") this.#events.updated(params["uri"], paramsText(text));
        return;
      case "notifications/tasks/status":
        return passTask(this.#events, frame);
      case "notifications/cancelled": {
        const id = params["requestId"];
        if (typeof id !== "string" && typeof id !== "number") return;
        this.#asked.takeBack(id, params["reason"] === undefined ? undefined : toDisplayText(params["reason"]));
        return;
      }
      default:
        return passOther(frame, { events: this.#events, pending: this.#pending, stream, call: from });
    }
  }

  #cancel(id: number, call: Call, reason: CancelReason): void {
    if (!this.#pending.has(id)) return;
    // A request that was never written needs no cancellation message.
    if (!this.#link?.takeBack?.(id)) {
      this.notify("notifications/cancelled", JSON.stringify({ requestId: id, reason: whyGivenUp(call, reason) }));
    }
    this.#pending.giveUp(id, givenUp(reason));
    this.#link?.drop(id);
  }
}

/**
 * Returns the params for the server, with our progress token instead of the client's and without
 * keys of the other era.
 */
function outgoingParams(params: string, call: Call, id: number): string {
  const meta = call.params["_meta"];
  if (typeof meta !== "object" || meta === null) return params;
  const span = memberSpan(params, 0, "_meta");
  if (!span) return params;
  let text = dropMembers(params.slice(span.start, span.end), (key) => key.startsWith(META_PREFIX));
  if (call.progressToken !== undefined) text = setMember(text, "progressToken", String(id));
  return params.slice(0, span.start) + text + params.slice(span.end);
}
