/** Decides for each entry of the catalog whether a visibility shows it, and in which shape. */
import type { Visibility, VisibleEntry } from "../../../mcp/protocol/principal.ts";
import { type NamedEntry, shapedEntry } from "../named.ts";
import type { Shows } from "../resources/entries.ts";
import type { ResourceView } from "../resources/server-resources.ts";

export function namedFilter(
  kind: "tool" | "prompt",
  visibility: Visibility,
): (entry: NamedEntry) => NamedEntry | undefined {
  const { shape } = visibility;
  return (entry) => {
    const { serverId, name, definition } = entry;
    const seen: VisibleEntry = { serverId, kind, name, definition: definition.value };
    if (!visibility.showsServer(serverId) || !visibility.shows(seen)) return undefined;
    const text = shape && kind === "tool" ? shape(seen, definition.text) : definition.text;
    return text === definition.text ? entry : shapedEntry(entry, text);
  };
}

export function resourceFilter(servers: ReadonlyMap<string, ResourceView>, visibility: Visibility): Shows {
  return {
    resource(serverId, name, position) {
      const definition =
        position === undefined ? undefined : servers.get(serverId)?.resources[position]?.definition.value;
      return visibility.showsServer(serverId) && visibility.shows({ serverId, kind: "resource", name, definition });
    },
    template(serverId, name, position) {
      const definition = servers.get(serverId)?.templates[position]?.definition.value;
      return visibility.showsServer(serverId) && visibility.shows({ serverId, kind: "template", name, definition });
    },
  };
}
