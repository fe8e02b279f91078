/**
 * Tells every session which lists have changed, once its handshake is over. Clients without a
 * session hear of it on streams of their own, which their front keeps.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { notificationText } from "../protocol/json-rpc.ts";
import { changeNotifications } from "../protocol/methods.ts";
import type { SessionStore } from "./store.ts";

export function announceChanges(catalog: Catalog, sessions: SessionStore): void {
  catalog.on("listed", (kinds) => {
    const texts = kinds.map((kind) => notificationText(changeNotifications[kind]));
    for (const session of sessions) if (session.initialized) for (const text of texts) session.notify(text);
  });
}
