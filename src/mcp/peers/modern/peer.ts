/**
 * A Peer for 2026-07-28: no handshake, and every request describes its client. A server's question
 * arrives as the call's result. One `subscriptions/listen` stream carries changes and updates.
 *
 * A modern client's own `_meta` is forwarded. For other clients and for the gateway's own requests
 * we build it. The peer answers `resources/subscribe` and `resources/unsubscribe` itself: it opens
 * a listen stream with the changed set. The old stream ends only when the new one is acknowledged.
 */

import { dropMembers, memberText, setMember } from "../../../lib/json/json-text.ts";
import type { Fate, Link, LinkEvents, OpenLink } from "../../links/link.ts";
import type { Call, CancelReason } from "../../protocol/call.ts";
import { SUBSCRIPTION_ID } from "../../protocol/envelope.ts";
import { errorTable, GoblinError } from "../../protocol/errors.ts";
import type { Flight } from "../../protocol/flight.ts";
import {
  type Answer,
  failure,
  notificationText,
  paramsText,
  requestText,
  withErrorCode,
} from "../../protocol/json-rpc.ts";
import { logText } from "../../protocol/log-text.ts";
import { cancelledAnswer, cancelReasonText } from "../cancelled.ts";
import { Notifications } from "../notifications.ts";
import type { Peer, PeerEvents, PeerInfo } from "../peer.ts";
import { Pending } from "../pending.ts";
import { type Arrival, type NotificationFrame, Receiver } from "../receiver.ts";
import { Descriptions } from "./descriptions.ts";
import { readDiscovery, VERSION } from "./discovery.ts";
import { Listener } from "./listener.ts";
import { RequestHeaders } from "./request-headers.ts";

export interface ModernOptions {
  readonly open: OpenLink;
  readonly events: PeerEvents;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /**
   * Whether closing a request's stream cancels it. On a shared channel, cancelling takes a message.
   */
  readonly cancelByClosing: boolean;
  /** Clients with a session may get a connection with a handshake beside this one. */
  readonly sessionsApart: boolean;
  /** Returns the input schema of one of the server's tools. */
  readonly inputSchema: (tool: string) => unknown;
}

export class ModernPeer implements Peer, LinkEvents {
  info: PeerInfo = { protocolVersion: VERSION, capabilities: {}, serverInfo: {}, instructions: undefined };
  readonly #options: ModernOptions;
  readonly #events: PeerEvents;
  readonly #pending = new Pending();
  readonly #receiver: Receiver;
  readonly #notifications: Notifications;
  readonly #listener: Listener;
  readonly #descriptions: Descriptions;
  readonly #headers: RequestHeaders;
  #link: Link | undefined;
  #opened = false;
  #ended = false;

  constructor(options: ModernOptions) {
    this.#options = options;
    this.#events = options.events;
    this.#descriptions = new Descriptions(VERSION, options.clientInfo);
    this.#headers = new RequestHeaders(VERSION, options.inputSchema);
    this.#notifications = new Notifications(options.events, this.#pending);
    this.#receiver = new Receiver({
      pending: this.#pending,
      peer: this,
      isClosed: () => this.#ended,
      readsBatches: false,
      request: ({ method }) =>
        this.problem(`The server sent a request (${logText(method)}), which its protocol version does not have`),
      notification: (frame, arrival) => this.#notified(frame, arrival),
    });
    this.#listener = new Listener({
      start: (params) => this.#startListening(params),
      stop: (id) => this.#stop(id),
      missed: (kinds, uris) => {
        for (const kind of kinds) this.#events.changed(kind);
        for (const uri of uris) this.#events.updated(uri, JSON.stringify({ uri }));
      },
    });
  }

  get inFlight(): number {
    return this.#pending.size - this.#listener.streams;
  }

  /** An HTTP server gets nothing that links two requests. A program may keep any state. */
  get keepsNothing(): boolean {
    return this.#options.cancelByClosing;
  }

  get mirrorsArguments(): boolean {
    return this.#options.cancelByClosing;
  }

  get sessionsApart(): boolean {
    return this.#options.sessionsApart;
  }

  async open(): Promise<boolean> {
    this.#link = await this.#options.open(this, this.#options.signal);
    const info = readDiscovery(await this.request("server/discover", "{}"));
    if (!info) return false;
    // Until here, the end of the link was told to nobody.
    if (this.#ended) throw new GoblinError("BACKEND_UNAVAILABLE", "The connection closed during the handshake");
    this.info = info;
    this.#opened = true;
    this.#listener.begin(info.capabilities);
    return true;
  }

  request(method: string, params: string, flight?: Flight): Promise<Answer> {
    if (method === "resources/subscribe") return this.#listener.add("resourceSubscriptions", uriIn(params));
    if (method === "resources/unsubscribe") return this.#listener.remove("resourceSubscriptions", uriIn(params));
    // In this era, each request carries the log level.
    if (method === "logging/setLevel") return Promise.resolve({ ok: true, raw: "{}" });
    const { answer } = this.#send(method, params, flight);
    return method === "resources/read" ? answer.then(withCommonCode) : answer;
  }

  notify(): void {}

  async watchTask(taskId: string): Promise<boolean> {
    return (await this.#listener.add("taskIds", taskId)).ok;
  }

  unwatchTask(taskId: string): void {
    void this.#listener.remove("taskIds", taskId);
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#listener.close();
    this.#pending.failAll(new GoblinError("BACKEND_UNAVAILABLE", "The connection was closed"));
    await this.#link?.close();
  }

  waiting(id: number): boolean {
    return this.#pending.has(id) && !this.#receiver.isReading(id);
  }

  failed(id: number, error: GoblinError, fate: Fate): void {
    this.#pending.settle(id, { ...failure(error), unsent: fate === "unsent" });
  }

  closed(error: GoblinError, renew = false): void {
    const settled = this.#receiver.settled;
    if (settled) return void settled.then(() => this.closed(error, renew));
    if (!renew) this.#pending.failAll(error);
    if (this.#ended) return;
    this.#ended = true;
    this.#listener.close();
    if (this.#opened) this.#events.closed(error, renew);
  }

  problem(message: string, detail?: string): void {
    this.#events.problem(message, detail);
  }

  message(bytes: Buffer, stream: number | undefined, call?: Call): void {
    this.#receiver.receive(bytes, stream, call);
  }

  #send(method: string, params: string, flight: Flight | undefined): { id: number; answer: Promise<Answer> } {
    const call = flight?.call;
    const id = this.#pending.nextId();
    const link = this.#link;
    if (this.#ended || !link) {
      const closed = { ...failure(new GoblinError("BACKEND_UNAVAILABLE", "The connection is closed")), unsent: true };
      return { id, answer: Promise.resolve(closed) };
    }
    if (call?.cancelled) {
      return { id, answer: Promise.resolve(failure(new GoblinError("CANCELLED", "Cancelled before it was sent"))) };
    }
    const answer = new Promise<Answer>((resolve) => {
      this.#pending.add(id, flight, resolve);
      call?.onCancel((reason) => this.#cancel(id, call, reason));
      const own = this.#descriptions.add(params, id, call);
      const text = requestText(id, method, own);
      // Only HTTP has headers.
      const headers = this.#options.cancelByClosing ? this.#headers.of(method, params, flight) : undefined;
      link.send(text, { id, call, headers });
    });
    return { id, answer };
  }

  #notified(frame: NotificationFrame, arrival: Arrival): void {
    const { method, params, text } = frame;
    const listening = arrival.stream ?? this.#listener.streamOf(params);
    if (listening !== undefined && this.#listener.acknowledged(listening, method, params)) return;
    switch (method) {
      case "notifications/resources/updated":
        if (typeof params["uri"] === "string")
          this.#events.updated(params["uri"], withoutSubscription(paramsText(text)));
        return;
      case "notifications/tasks":
        return this.#notifications.task(frame, withoutSubscription(paramsText(text)));
      case "notifications/cancelled": {
        // A server may cancel only our listen streams, never our other requests.
        const id = params["requestId"];
        if (typeof id === "number" && this.#listener.owns(id)) this.#pending.settle(id, { ok: true, raw: "{}" });
        return;
      }
      default:
        return this.#notifications.pass(frame, arrival);
    }
  }

  #startListening(params: string): { id: number; answer: Promise<Answer> } {
    return this.#send("subscriptions/listen", params, undefined);
  }

  #cancel(id: number, call: Call, reason: CancelReason): void {
    if (!this.#pending.has(id)) return;
    this.#pending.abandon(id, cancelledAnswer(reason));
    this.#stop(id, cancelReasonText(call, reason));
  }

  /** Cancels a request that no caller waits for. */
  #stop(id: number, reason = "Not needed any more"): void {
    this.#pending.settle(id, { ok: true, raw: "{}" });
    if (this.#link?.takeBack?.(id)) return;
    if (this.#options.cancelByClosing) this.#link?.drop(id);
    else this.#link?.send(notificationText("notifications/cancelled", JSON.stringify({ requestId: id, reason })));
  }
}

/** In this era, a resource that does not exist has the code of wrong params. */
function withCommonCode(answer: Answer): Answer {
  const isMissing = !answer.ok && answer.symbol === undefined && answer.code === errorTable.INVALID_PARAMS.rpc;
  return isMissing ? withErrorCode(answer, errorTable.RESOURCE_NOT_FOUND.rpc) : answer;
}

/** Removes our stream's id, which must not reach clients. */
function withoutSubscription(params: string): string {
  const meta = memberText(params, "_meta");
  if (!meta?.includes(SUBSCRIPTION_ID)) return params;
  const kept = dropMembers(meta, (key) => key === SUBSCRIPTION_ID);
  return kept === "{}" ? dropMembers(params, (key) => key === "_meta") : setMember(params, "_meta", kept);
}

function uriIn(params: string): string {
  return (JSON.parse(params) as { uri: string }).uri;
}
