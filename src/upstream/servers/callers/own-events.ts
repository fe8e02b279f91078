/**
 * What the server of one principal tells the rest of the gateway: only what concerns that principal
 * or one of its clients.
 *
 * The connection that the principal's clients share belongs to the principal: what it reports is
 * reported under the principal's key, so that no other principal's subscription gets it.
 */
import type { EventEmitter } from "node:events";
import { principalKey } from "../../catalog/views/own-lists.ts";
import type { ServerEvents } from "../events.ts";
import { SESSIONS } from "../owner.ts";
import type { ServerHost } from "../server.ts";

/** Events that say what all clients see. Those of one caller are nobody else's business. */
const COMMON: ReadonlySet<string> = new Set(["status", "synced", "removed"]);

export function eventsOf(host: ServerHost, principal: string): Pick<ServerHost, "emit" | "subscribers"> {
  const owner = principalKey(principal);
  const restored = (serverId: string): Promise<void> => host.subscribers.restored(serverId, owner);
  const ownerOf = (key: string | undefined): string => (key === undefined || key === SESSIONS ? owner : key);
  // A message for nobody in particular would be passed to the only session, whosever it is.
  const narrow = <Message extends { readonly to: unknown }>(message: Message): Message =>
    message.to === "none" ? { ...message, to: "several" } : message;
  const changes: { [Name in keyof ServerEvents]?: (...args: ServerEvents[Name]) => boolean } = {
    updated: (update) => host.emit("updated", { ...update, ownerKey: ownerOf(update.ownerKey) }),
    log: (message) => host.emit("log", narrow(message)),
    notified: (notification) => host.emit("notified", narrow(notification)),
    ownRestored: (serverId, key) => {
      if (key !== SESSIONS) return host.emit("ownRestored", serverId, key);
      void restored(serverId);
      return true;
    },
  };
  const emit: EventEmitter<ServerEvents>["emit"] = (event, ...args) => {
    if (COMMON.has(String(event))) return false;
    const change = changes[event as keyof ServerEvents] as ((...given: unknown[]) => boolean) | undefined;
    return change ? change(...args) : host.emit(event, ...args);
  };
  return {
    emit,
    subscribers: {
      restored,
      moved: (serverId) => host.subscribers.moved(serverId),
      wantsConnection: (serverId, ownerKey) => host.subscribers.wantsConnection(serverId, ownerKey),
    },
  };
}
