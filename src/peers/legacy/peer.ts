/**
 * A Peer that speaks the protocol versions with a handshake, 2024-11-05 to 2025-11-25:
 * `initialize`, then requests both ways.
 *
 * A client's progress token never leaves the gateway: each request gets a token of its own, and the
 * client's is put back. A question from the server goes to the call it belongs to, as far as the
 * transport or the calls under way tell it; nothing is guessed.
 */

import type { Link, LinkEvents, OpenLink } from "../../links/link.ts";
import type { Call, CancelReason } from "../../protocol/call.ts";
import { META_PREFIX } from "../../protocol/envelope.ts";
import { GoblinError, messageOf } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Frame, readFrame } from "../../protocol/frame.ts";
import {
  type Answer,
  answerText,
  failure,
  notificationText,
  paramsText,
  rawText,
  requestText,
} from "../../protocol/json-rpc.ts";
import { dropMembers, elementSpans, memberSpan, setMember, toDisplayText } from "../../protocol/json-text.ts";
import { changeKinds, severity } from "../../protocol/methods.ts";
import { withTimeout } from "../../timing/with-timeout.ts";
import type { Origin, Peer, PeerEvents, PeerInfo } from "../peer.ts";
import { Pending } from "../pending.ts";

const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export interface LegacyOptions {
  readonly open: OpenLink;
  readonly events: PeerEvents;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /**
   * What the server may ask of us: everything for a shared connection, the client's own for one
   * that is not.
   */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly connectMs: number;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal | undefined;
}

const SET_LEVEL_MS = 1000;
const MESSAGE_START = '{"jsonrpc":"2.0"';
const CANCEL_WORDS: Readonly<Record<CancelReason, string>> = {
  timeout: "Timed out",
  client: "Cancelled by the client",
  shutdown: "The gateway is shutting down",
};

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
    if (!opened) throw new GoblinError("BACKEND_UNAVAILABLE", `No handshake within ${options.connectMs} ms`);
    return peer;
  } catch (error) {
    await peer.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

class LegacyPeer implements Peer, LinkEvents {
  info: PeerInfo = { protocolVersion: "", capabilities: {}, serverInfo: {}, instructions: undefined };
  readonly #events: PeerEvents;
  readonly #pending = new Pending();
  /** The server's own questions that we are answering, so that it can cancel them. */
  readonly #asked = new Set<string | number>();
  #link: Link | undefined;
  /** How severe a log message must be at least, as the server was last told. */
  #level = Number.POSITIVE_INFINITY;
  #opened = false;
  #ended = false;

  constructor(events: PeerEvents) {
    this.#events = events;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  async open({ open, clientInfo, capabilities, signal }: LegacyOptions): Promise<void> {
    const link = await open(this, signal);
    this.#link = link;
    if (this.#ended) await link.close();
    const params = JSON.stringify({ protocolVersion: legacyVersions[0], capabilities, clientInfo });
    const answer = await this.request("initialize", params);
    if (!answer.ok)
      throw answer.symbol === undefined
        ? refusal(answer.raw)
        : new GoblinError("BACKEND_UNAVAILABLE", reasonIn(answer.raw));
    this.info = readInitializeResult(rawText(answer.raw));
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
    if (call?.cancelled) return Promise.resolve(cancelled(call.cancelled));
    if (method === "logging/setLevel") this.#level = severity(toDisplayText(JSON.parse(params).level));
    const level = call?.client.logLevel;
    const wanted = level === undefined ? -1 : severity(level);
    if (wanted !== -1 && wanted < this.#level && "logging" in this.info.capabilities) {
      // One request may ask for more than all sessions do; who did not ask does not get it.
      const set = this.request("logging/setLevel", JSON.stringify({ level }));
      const givenUp = new Promise<void>((resolve) => call?.onCancel(() => resolve()));
      return Promise.race([withTimeout(set, SET_LEVEL_MS, undefined), givenUp]).then(() =>
        this.request(method, params, flight),
      );
    }
    return new Promise((resolve) => {
      const id = this.#pending.nextId();
      this.#pending.add(id, flight, resolve);
      call?.onCancel((reason) => this.#cancel(id, reason));
      const text = requestText(id, method, call ? outgoingParams(params, call, id) : params);
      link.send(text, call?.trace ? { id, headers: call.trace } : { id });
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
    await this.#link?.close();
  }

  waiting(id: number): boolean {
    return this.#pending.has(id);
  }

  failed(id: number, error: GoblinError, unsent = false): void {
    this.#pending.settle(id, { ...failure(error), unsent });
  }

  closed(error: GoblinError, renew = false): void {
    if (!renew) this.#pending.failAll(error);
    if (this.#ended) return;
    this.#ended = true;
    if (this.#opened) this.#events.closed(error, renew);
  }

  missed(): void {
    this.#events.missed?.();
  }

  problem(message: string, detail?: string): void {
    this.#events.problem(message, detail);
  }

  message(bytes: Buffer, stream: number | undefined): void {
    let frame: Frame;
    try {
      frame = readFrame(bytes);
    } catch {
      return this.#unreadable(bytes, stream);
    }
    try {
      if (frame.kind === "invalid" && bytes[0] === 91) this.#batch(bytes, stream);
      else this.#take(frame, stream);
    } catch (error) {
      this.#events.problem(`A message of the server cannot be worked on: ${messageOf(error)}`);
    }
  }

  /** Servers of 2025-03-26 may answer with a batch. */
  #batch(bytes: Buffer, stream: number | undefined): void {
    const text = bytes.toString("utf8");
    for (const { start, end } of elementSpans(text, 0)) {
      this.#take(readFrame(Buffer.from(text.slice(start, end))), stream);
    }
  }

  #unreadable(bytes: Buffer, stream: number | undefined): void {
    const error = new GoblinError("BACKEND_ERROR", "The server's answer is not valid JSON");
    if (stream !== undefined && this.#pending.settle(stream, failure(error))) return;
    this.#events.problem("Not a JSON message", bytes.toString("utf8", 0, 200));
    // A server that broke off in the middle of a message may have gone on with a whole one in the
    // same line.
    const whole = bytes.lastIndexOf(MESSAGE_START);
    if (whole > 0) this.message(bytes.subarray(whole), stream);
  }

  #unexpected(id: unknown): void {
    const unexpectedAnswerReason = this.#pending.unexpectedAnswerReason(id);
    if (unexpectedAnswerReason !== undefined) this.#events.problem(unexpectedAnswerReason);
  }

  #take(frame: Frame, stream: number | undefined): void {
    switch (frame.kind) {
      case "response":
        if (typeof frame.id === "number" && this.#pending.settle(frame.id, frame.answer)) return;
        this.#unexpected(frame.id);
        return;
      case "request":
        void this.#answer(frame, stream);
        return;
      case "notification":
        return this.#notified(frame.method, frame.params, frame.text, stream);
      case "invalid":
        return this.#events.problem(`Not a JSON-RPC message: ${frame.reason}`);
    }
  }

  async #answer(frame: Extract<Frame, { kind: "request" }>, stream: number | undefined): Promise<void> {
    const { id, method, text } = frame;
    let answer: Answer;
    if (method === "ping") answer = { ok: true, raw: "{}" };
    else {
      this.#asked.add(id);
      const flights = this.#pending.askedFor(stream);
      for (const { deadline } of flights) deadline?.asks();
      answer = await this.#events.ask(method, paramsText(text), this.#origin(stream)).catch(failure);
      for (const { deadline } of flights) deadline?.answered();
      if (!this.#asked.delete(id)) return;
    }
    this.#link?.send(answerText(id, answer));
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>, text: string, stream: number | undefined): void {
    switch (method) {
      case "notifications/progress": {
        const flight = this.#pending.flightOf(params["progressToken"]);
        if (flight) this.#progress(flight, text);
        return;
      }
      case "notifications/message":
        return this.#events.log(toDisplayText(params["level"]), paramsText(text), this.#origin(stream));
      case "notifications/resources/updated":
        if (typeof params["uri"] === "string") this.#events.updated(params["uri"], paramsText(text));
        return;
      case "notifications/tasks/status":
        if (typeof params["taskId"] === "string") this.#events.task(params["taskId"], paramsText(text));
        return;
      case "notifications/cancelled": {
        const id = params["requestId"];
        if (typeof id === "string" || typeof id === "number") this.#asked.delete(id);
        return;
      }
      default: {
        const kind = changeKinds.get(method);
        if (kind) this.#events.changed(kind);
      }
    }
  }

  #progress({ call, deadline }: Flight, text: string): void {
    deadline?.progress();
    const token = call.progressToken;
    if (token === undefined) return;
    call.emit(
      notificationText("notifications/progress", setMember(paramsText(text), "progressToken", JSON.stringify(token))),
    );
  }

  #origin(stream: number | undefined): Origin {
    return (stream !== undefined && this.#pending.call(stream)) || this.#pending.origin();
  }

  #cancel(id: number, reason: CancelReason): void {
    if (!this.#pending.has(id)) return;
    this.notify("notifications/cancelled", JSON.stringify({ requestId: id, reason: CANCEL_WORDS[reason] }));
    this.#pending.giveUp(id, cancelled(reason));
    this.#link?.drop(id);
  }
}

function cancelled(reason: CancelReason): Answer {
  return failure(new GoblinError("CANCELLED", CANCEL_WORDS[reason]));
}

/**
 * The params as the server gets them: our progress token in place of the client's, and no keys of
 * another era.
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

function readInitializeResult(text: string): PeerInfo {
  const result = JSON.parse(text) as Record<string, unknown>;
  const protocolVersion = result["protocolVersion"];
  if (typeof protocolVersion !== "string" || !(legacyVersions as readonly string[]).includes(protocolVersion)) {
    const known = legacyVersions.join(", ");
    throw new GoblinError(
      "BACKEND_UNAVAILABLE",
      `The server speaks protocol version ${toDisplayText(protocolVersion)}; Goblin knows ${known}`,
    );
  }
  return {
    protocolVersion,
    capabilities: record(result["capabilities"]),
    serverInfo: record(result["serverInfo"]),
    instructions: typeof result["instructions"] === "string" ? result["instructions"] : undefined,
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The server answered `initialize` with an error: it is there, but does not speak this. */
export class HandshakeRefused extends GoblinError {}

function refusal(raw: string): GoblinError {
  return new HandshakeRefused("BACKEND_UNAVAILABLE", `The handshake failed: ${reasonIn(raw)}`);
}

function reasonIn(errorText: string): string {
  return toDisplayText((JSON.parse(errorText) as { message?: unknown }).message);
}
