/**
 * Finds an entry by any name that it has, without trying templates: as listed or by its flat id;
 * else, if the name is under a configured server's prefix, among that server's entries only; else
 * by the backend's own URI.
 *
 * What must always hold: every step is a map look-up, so that its cost does not depend on the
 * number of entries; a name that several entries share gives all of them, never one by chance; a
 * name that is a configured server's is never looked for at another.
 */

import type { Reading, ServerNames } from "../server-names.ts";
import type { Listing } from "./entries.ts";

export interface Named {
  readonly serverId: string;
  readonly exposed: string;
  readonly flatId: string;
}

export interface Lookup<Entry> {
  /** The entries under a name: none, one, or several that share it. */
  byAnyName(name: string): readonly Entry[];
  /** The entry of a server under the backend's own URI or template. */
  own(serverId: string, text: string): Entry | undefined;
}

export function createLookup<Entry extends Named>(
  listing: Listing<Entry>,
  servers: ServerNames,
  text: {
    readonly of: (entry: Entry) => string;
    /** What the server's own text may be. */
    readonly read: (reading: Reading) => readonly string[];
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

  const byReading = (reading: Reading): readonly Entry[] => {
    const { serverId, flatId } = reading;
    const entry = flatId === undefined ? undefined : flat.get(flatId);
    if (entry !== undefined) return [entry];
    const sharing = flatId === undefined ? undefined : listing.shared.get(flatId);
    if (sharing !== undefined) return sharing;
    for (const uri of text.read(reading)) {
      const found = own(serverId, uri);
      if (found !== undefined) return [found];
    }
    return [];
  };
  return {
    own,
    byAnyName(name) {
      const entry = listed.get(name) ?? flat.get(name);
      if (entry !== undefined) return [entry];
      const reading = servers.read(name);
      return reading === undefined ? byText(name) : byReading(reading);
    },
  };
}
