/**
 * Finds an entry by any of its names, without trying templates. The listed name and the flat id
 * come first. A name under a configured server's prefix is then looked up at that server only.
 * Other names are looked up as the servers' own URIs.
 *
 * Invariants: every step is a map look-up, so the cost does not depend on the number of entries. A
 * shared name returns all its entries, never a random one. A name under one server's prefix is
 * never looked up at another server.
 */

import { each, type Sliced } from "../../../lib/timing/slices.ts";
import type { Reading, ServerNames } from "../server-names.ts";
import type { Listing } from "./entries.ts";

export interface ExposedUri {
  readonly serverId: string;
  readonly exposed: string;
  readonly flatId: string;
}

export interface Lookup<Entry> {
  /** The entries with this name: none, one, or several that share it. */
  byAnyName(name: string): readonly Entry[];
  /** The entry that the server lists under this URI or template. */
  own(serverId: string, text: string): Entry | undefined;
}

export function* createLookup<Entry extends ExposedUri>(
  listing: Listing<Entry>,
  servers: ServerNames,
  text: {
    readonly of: (entry: Entry) => string;
    /** The possible originals at the server. */
    readonly read: (reading: Reading) => readonly string[];
  },
): Sliced<Lookup<Entry>> {
  const listed = new Map<string, Entry>();
  const flat = new Map<string, Entry>();
  const raw = new Map<string, Entry | Entry[]>();
  yield* each(listing.entries, (entry) => {
    const own = text.of(entry);
    listed.set(entry.exposed, entry);
    flat.set(entry.flatId, entry);
    const owners = raw.get(own);
    // Nearly every URI has one owner, so an array for each would waste memory.
    if (owners === undefined) raw.set(own, entry);
    else if (Array.isArray(owners)) owners.push(entry);
    else raw.set(own, [owners, entry]);
  });
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
