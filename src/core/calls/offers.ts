/**
 * What the gateway and its servers offer, as JSON for the index of a recording: so that a replay
 * can say what it is before anybody has listed it.
 */

import { listMethods } from "../../mcp/protocol/methods.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { ServerLists } from "../../upstream/catalog/definitions.ts";
import type { Servers } from "../../upstream/servers/servers.ts";

/** Returns the members `gateway` and `servers`, without braces. */
export function offersOf(catalog: Catalog, servers: Servers): string {
  const { pagers, servers: views } = catalog.snapshot;
  const kinds = [...listMethods.values()].map(({ kind }) => kind);
  const own = kinds.map((kind) => `"${kind}":[${pagers[kind].entries.map(({ text }) => text).join(",")}]`);
  const each = views.map(({ id, lists }) => {
    const info = JSON.stringify(servers.status(id)?.info ?? null);
    return `${JSON.stringify(id)}:{"info":${info},${listsText(lists)}}`;
  });
  return `"gateway":{${own.join(",")}},"servers":{${each.join(",")}}`;
}

function listsText(lists: ServerLists): string {
  return Object.entries(lists)
    .map(([kind, definitions]) => `"${kind}":[${definitions.map(({ text }) => text).join(",")}]`)
    .join(",");
}
