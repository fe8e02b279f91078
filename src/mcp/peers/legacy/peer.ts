/**
 * A Peer for the protocol versions with a handshake, 2024-11-05 to 2025-11-25: `initialize`, then
 * requests in both directions.
 *
 * A client's progress token never leaves the gateway. Each request gets our own token, and the
 * client's token is restored in notifications. A message on a request's stream belongs to that
 * request's call, even after its answer. A message without a stream goes to a call only if no other
 * party can be meant. The peer never guesses.
 */

import { toDisplayText } from "../../../lib/json/json-text.ts";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { Fate, Link, LinkEvents, OpenLink } from "../../links/link.ts";
import type { Call, CancelReason } from "../../protocol/call.ts";
import { GoblinError } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import { type Answer, failure, notificationText, paramsText, requestText } from "../../protocol/json-rpc.ts";
import { severity } from "../../protocol/log-levels.ts";
import { cancelledAnswer, cancelReasonText } from "../cancelled.ts";
import { Notifications } from "../notifications.ts";
import type { Peer, PeerEvents, PeerInfo } from "../peer.ts";
import { Pending } from "../pending.ts";
import { type Arrival, type NotificationFrame, Receiver } from "../receiver.ts";
import {
  type HandshakeOptions,
  HandshakeRefused,
  handshakeProblem,
  initializeParams,
  readInitializeResult,
} from "./handshake.ts";
import { outgoingParams } from "./outgoing-params.ts";
import { ServerRequests } from "./server-requests.ts";

export interface LegacyOptions extends HandshakeOptions {
  readonly open: OpenLink;
  readonly events: PeerEvents;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Refuses a server that keeps no session: it could not recognize the answer to a question. */
  readonly needsSession?: boolean;
}

const SET_LEVEL_MS = 1000;

export class LegacyPeer implements Peer, LinkEvents {
  info: PeerInfo = { protocolVersion: "", capabilities: {}, serverInfo: {}, instructions: undefined };
  readonly #events: PeerEvents;
  readonly #pending = new Pending();
  readonly #receiver: Receiver;
  readonly #requests: ServerRequests;
  readonly #notifications: Notifications;
  #link: Link | undefined;
  /** The minimum severity of log messages that the server was last asked for. */
  #level = Number.POSITIVE_INFINITY;
  #opened = false;
  #ended = false;

  constructor(events: PeerEvents) {
    this.#events = events;
    this.#requests = new ServerRequests({
      pending: this.#pending,
      ask: (method, params, asked) => events.ask(method, params, asked),
      send: (text) => this.#link?.send(text),
    });
    this.#notifications = new Notifications(events, this.#pending);
    this.#receiver = new Receiver({
      pending: this.#pending,
      peer: this,
      isClosed: () => this.#ended,
      // Servers of 2025-03-26 may answer with a batch.
      readsBatches: true,
      request: (frame, arrival) => void this.#requests.answer(frame, arrival),
      notification: (frame, arrival) => this.#notified(frame, arrival),
    });
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
    // Until here, the end of the link was told to nobody.
    if (this.#ended) throw new GoblinError("BACKEND_UNAVAILABLE", "The connection closed during the handshake");
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
    if (call?.cancelled) return Promise.resolve(cancelledAnswer(call.cancelled));
    if (method === "logging/setLevel") this.#level = severity(toDisplayText(JSON.parse(params).level));
    const level = call?.client.logLevel;
    const wanted = level === undefined ? -1 : severity(level);
    if (wanted !== -1 && wanted < this.#level && "logging" in this.info.capabilities) {
      // A call may ask for a lower level than all sessions. Clients that did not ask do not get
      // these messages.
      const set = this.request("logging/setLevel", JSON.stringify({ level }));
      const cancelled = new Promise<void>((resolve) => call?.onCancel(() => resolve()));
      return Promise.race([withTimeout(set, SET_LEVEL_MS, undefined), cancelled]).then(() =>
        this.request(method, params, flight),
      );
    }
    return new Promise((resolve) => {
      const id = this.#pending.nextId();
      this.#pending.add(id, flight, resolve);
      call?.onCancel((reason) => this.#cancel(id, call, reason));
      const own = call ? outgoingParams(params, call, id) : params;
      const text = requestText(id, method, own);
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
    this.#requests.dropAll();
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
    return this.#pending.has(id) && !this.#receiver.isReading(id);
  }

  failed(id: number, error: GoblinError, fate: Fate): void {
    const answer = { ...failure(error), unsent: fate === "unsent" };
    if (fate === "unknown") this.#pending.abandon(id, answer);
    else this.#pending.settle(id, answer);
  }

  closed(error: GoblinError, renew = false): void {
    const settled = this.#receiver.settled;
    if (settled) return void settled.then(() => this.closed(error, renew));
    if (!renew) this.#pending.failAll(error);
    if (this.#ended) return;
    this.#ended = true;
    this.#requests.dropAll();
    if (this.#opened) this.#events.closed(error, renew);
  }

  missed(): void {
    this.#events.missed?.();
  }

  problem(message: string, detail?: string): void {
    this.#events.problem(message, detail);
  }

  message(bytes: Buffer, stream: number | undefined, call?: Call): void {
    this.#receiver.receive(bytes, stream, call);
  }

  #notified(frame: NotificationFrame, arrival: Arrival): void {
    const { method, params, text } = frame;
    switch (method) {
      case "notifications/resources/updated":
        if (typeof params["uri"] === "string") this.#events.updated(params["uri"], paramsText(text));
        return;
      case "notifications/tasks/status":
        return this.#notifications.task(frame, paramsText(text));
      case "notifications/cancelled":
        return this.#requests.cancelled(params);
      default:
        return this.#notifications.pass(frame, arrival);
    }
  }

  #cancel(id: number, call: Call, reason: CancelReason): void {
    if (!this.#pending.has(id)) return;
    // A request that was never written needs no cancellation message.
    if (!this.#link?.takeBack?.(id)) {
      this.notify("notifications/cancelled", JSON.stringify({ requestId: id, reason: cancelReasonText(call, reason) }));
    }
    this.#pending.abandon(id, cancelledAnswer(reason));
    this.#link?.drop(id);
  }
}
