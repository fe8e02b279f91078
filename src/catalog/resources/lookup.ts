/**
 * Finds an entry by any name that it has, without trying templates: as listed, flat id, prefixed,
 * the backend's own, or
 * `file:///` and the flat id, in this order.
 *
 * What must always hold: every step is a map look-up, so that its cost does not depend on the
 * number of entries; a name that several entries share gives all of them, never one by chance.
 */
import type { Listing } from "./entries.ts";

const FILE = "file:///";

export interface Named {
  readonly serverId: string;
  readonly exposed: string;
  readonly flatId: string;
}

/** The servers by the names that stand in front of their URIs. */
export interface ServerNames {
  readonly prefixes: ReadonlyMap<string, string>;
  readonly byPrefix: ReadonlyMap<string, string>;
  readonly longestId: number;
}

export interface Lookup<Entry> {
  /** The entries under a name: none, one, or several that share it. */
  byAnyName(name: string): readonly Entry[];
  /** The entry of a server under the backend's own URI or template. */
  own(serverId: string, text: string): Entry | undefined;
}

export function serverNames(prefixes: ReadonlyMap<string, string>): ServerNames {
  const byPrefix = new Map([...prefixes].map(([id, prefix]) => [prefix, id]));
  const longestId = Math.max(0, ...[...prefixes.keys()].map((id) => id.length));
  return { prefixes, byPrefix, longestId };
}

export function createLookup<Entry extends Named>(
  listing: Listing<Entry>,
  servers: ServerNames,
  text: {
    readonly of: (entry: Entry) => string;
    readonly unprefix: (name: string) => { prefix: string; uris: string[] } | undefined;
  },
): Lookup<Entry> {
  const listed = new Map<string, Entry>();
  const flat = new Map<string, Entry>();
  const raw = new Map<string, Entry | Entry[]>();
  for (const entry of listing.entries) {
    const own = text.of(entry);
    listed.set(entry.exposed, entry);
    flat.set(entry.flatId, entry);
    const owners = raw.get(own);
    // Nearly every URI has one owner: no array for each.
    if (owners === undefined) raw.set(own, entry);
    else if (Array.isArray(owners)) owners.push(entry);
    else raw.set(own, [owners, entry]);
  }
  const byText = (name: string): readonly Entry[] => {
    const owners = raw.get(name);
    return owners === undefined ? [] : Array.isArray(owners) ? owners : [owners];
  };
  const own = (serverId: string, name: string) => byText(name).find((entry) => entry.serverId === serverId);

  const byFlatId = (name: string): readonly Entry[] => {
    const entry = flat.get(name);
    if (entry !== undefined) return [entry];
    return (
      listing.shared.get(name) ?? splitFlat(name, servers).flatMap(({ serverId, rest }) => own(serverId, rest) ?? [])
    );
  };
  const byPrefix = (name: string): readonly Entry[] => {
    const split = text.unprefix(name);
    const serverId = split === undefined ? undefined : servers.byPrefix.get(split.prefix);
    if (split === undefined || serverId === undefined) return [];
    return split.uris.flatMap((uri) => own(serverId, uri) ?? []).slice(0, 1);
  };
  return {
    own,
    byAnyName(name) {
      const entry = listed.get(name);
      if (entry !== undefined) return [entry];
      const steps = [byFlatId, byPrefix, byText];
      for (const step of steps) {
        const found = step(name);
        if (found.length > 0) return found;
      }
      return name.startsWith(FILE) ? byFlatId(name.slice(FILE.length)) : [];
    },
  };
}

/**
 * Every way to read a name as `<server id>_<rest>`: ids may hold underscores, so there can be more
 * than one.
 */
export function splitFlat(name: string, servers: ServerNames): { serverId: string; rest: string }[] {
  const splits: { serverId: string; rest: string }[] = [];
  let at = name.indexOf("_");
  while (at !== -1 && at <= servers.longestId) {
    const serverId = name.slice(0, at);
    if (servers.prefixes.has(serverId)) splits.push({ serverId, rest: name.slice(at + 1) });
    at = name.indexOf("_", at + 1);
  }
  return splits;
}
