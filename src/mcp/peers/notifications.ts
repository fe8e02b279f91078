/**
 * Passes on a server's notifications that mean the same in every era. One that belongs to a call
 * goes to that call's client.
 */

import { setMember, toDisplayText } from "../../lib/json/json-text.ts";
import { notificationText, paramsText } from "../protocol/json-rpc.ts";
import { changeKinds, endingNotifications } from "../protocol/methods.ts";
import type { Audience, PeerEvents } from "./peer.ts";
import type { Pending } from "./pending.ts";
import type { Arrival, NotificationFrame } from "./receiver.ts";

export class Notifications {
  readonly #events: PeerEvents;
  readonly #pending: Pending;

  constructor(events: PeerEvents, pending: Pending) {
    this.#events = events;
    this.#pending = pending;
  }

  pass(frame: NotificationFrame, arrival: Arrival): void {
    const { method, params, text } = frame;
    if (method === "notifications/progress") return this.#progress(frame);
    if (method === "notifications/message") {
      return this.#events.log(toDisplayText(params["level"]), paramsText(text), this.#audience(arrival));
    }
    const kind = changeKinds.get(method);
    if (kind) this.#events.changed(kind);
    else if (!endingNotifications.has(method)) {
      this.#events.notified(method, paramsText(text), this.#audience(arrival));
    }
  }

  /** Passes a change of a task. `text`: the params for clients. */
  task({ method, params }: NotificationFrame, text: string): void {
    const { taskId } = params;
    if (typeof taskId === "string") this.#events.task({ taskId, method, params: text });
  }

  /** Sends progress to the call's client under the client's own token, and extends the deadline. */
  #progress({ params, text }: NotificationFrame): void {
    const flight = this.#pending.flightOf(params["progressToken"]);
    flight?.deadline?.progress();
    const call = flight?.call;
    if (call?.progressToken === undefined) return;
    const restored = setMember(paramsText(text), "progressToken", JSON.stringify(call.progressToken));
    call.emit(notificationText("notifications/progress", restored));
  }

  #audience({ stream, call }: Arrival): Audience {
    return stream === undefined ? this.#pending.audience() : (call ?? "none");
  }
}
