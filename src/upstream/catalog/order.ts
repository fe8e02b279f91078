/**
 * The order of `lists.order: "server"`: by server, in the order of the config, and within a server
 * as the server lists its entries.
 *
 * Pure. Entries keep their identity; only their order differs.
 */
import type { ListKind } from "../../mcp/protocol/methods.ts";
import type { Definition, ServerLists } from "./definitions.ts";

export interface Placed {
  readonly serverId: string;
  /** The index in the server's list. */
  readonly position: number;
}

interface Server {
  readonly id: string;
  readonly lists: ServerLists;
}

export function byPlace<Entry extends { readonly serverId: string }>(
  entries: readonly Entry[],
  servers: readonly Pick<Server, "id">[],
  positionOf: (entry: Entry) => number,
): readonly Entry[] {
  const places = new Map(servers.map(({ id }, i) => [id, i]));
  return entries
    .map((entry) => ({ entry, server: places.get(entry.serverId) ?? servers.length, position: positionOf(entry) }))
    .sort((a, b) => a.server - b.server || a.position - b.position)
    .map(({ entry }) => entry);
}

export function inServerOrder<Entry extends { readonly serverId: string; readonly definition: Definition }>(
  entries: readonly Entry[],
  servers: readonly Server[],
  kind: ListKind,
): readonly Entry[] {
  const positions = new Map<Definition, number>();
  for (const { lists } of servers) for (const [i, definition] of lists[kind].entries()) positions.set(definition, i);
  return byPlace(entries, servers, ({ definition }) => positions.get(definition) ?? 0);
}
