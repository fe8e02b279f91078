/**
 * The catalog as the server of one principal writes to it: its lists become that principal's own,
 * and nothing that others see changes.
 */
import type { Catalog } from "../../catalog/catalog.ts";
import { principalKey } from "../../catalog/views/own-lists.ts";

/** What a server writes. */
export type ServerCatalog = Pick<Catalog, "put" | "update" | "stand" | "own" | "announce" | "caughtUp">;

export function catalogOf(catalog: ServerCatalog, principal: string): ServerCatalog {
  const key = principalKey(principal);
  return {
    put: () => {},
    stand: () => {},
    update: (serverId, lists) => catalog.own(key, serverId, lists),
    own: (clientKey, serverId, lists) => catalog.own(clientKey, serverId, lists),
    announce: (serverId, kinds, clientKey = key) => catalog.announce(serverId, kinds, clientKey),
    caughtUp: () => catalog.caughtUp(),
  };
}
