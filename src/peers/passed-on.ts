/** Forwards a server's notifications that belong to a call. All peers share this code. */

import { setMember, toDisplayText } from "../json/json-text.ts";
import type { Call } from "../protocol/call.ts";
import { notificationText, type Params, paramsText } from "../protocol/json-rpc.ts";
import { changeKinds, endingNotifications } from "../protocol/methods.ts";
import type { Audience, PeerEvents } from "./peer.ts";
import type { Pending } from "./pending.ts";

export interface ServerNotification {
  readonly method: string;
  readonly params: Params;
  /** The whole message. */
  readonly text: string;
}

/** Sends progress to the call's client under the client's own token, and extends the deadline. */
export function passProgress(pending: Pending, { params, text }: ServerNotification): void {
  const flight = pending.flightOf(params["progressToken"]);
  flight?.deadline?.progress();
  const call = flight?.call;
  if (call?.progressToken === undefined) return;
  const restored = setMember(paramsText(text), "progressToken", JSON.stringify(call.progressToken));
  call.emit(notificationText("notifications/progress", restored));
}

export interface NotificationOrigin {
  readonly events: Pick<PeerEvents, "log" | "notified" | "changed">;
  readonly pending: Pending;
  /** The request on whose stream the message arrived, and that request's call. */
  readonly stream: number | undefined;
  readonly call: Call | undefined;
}

export function passLog({ params, text }: ServerNotification, origin: NotificationOrigin): void {
  origin.events.log(toDisplayText(params["level"]), paramsText(text), audienceOf(origin));
}

/** Passes a change of a list, and what the gateway does not know itself. */
export function passOther(
  notification: ServerNotification & { readonly method: string },
  origin: NotificationOrigin,
): void {
  const { method, text } = notification;
  const kind = changeKinds.get(method);
  if (kind) origin.events.changed(kind);
  else if (!endingNotifications.has(method)) origin.events.notified(method, paramsText(text), audienceOf(origin));
}

function audienceOf({ pending, stream, call }: NotificationOrigin): Audience {
  return stream === undefined ? pending.audience() : (call ?? "none");
}

export function passTask(events: Pick<PeerEvents, "task">, frame: ServerNotification, text?: string): void {
  const { taskId } = frame.params;
  const params = text ?? paramsText(frame.text);
  if (typeof taskId === "string") events.task({ taskId, method: frame.method, params });
}
