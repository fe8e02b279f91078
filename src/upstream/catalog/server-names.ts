/**
 * Maps the prefixes of URIs and ids to the configured servers, and finds the owner of a name.
 *
 * Invariant: the result depends on the config alone. A name under a server's prefix belongs to that
 * server, regardless of any server's lists or state.
 */
import type { Claims } from "../../mcp/identifiers/claims.ts";
import {
  assignPrefixes,
  flatClaims,
  unprefixed,
  unprefixedExpansions,
  uriPrefixOf,
} from "../../mcp/identifiers/uris.ts";

/** Some editors turn a flat id into `file:///` and the id. */
const FILE = "file:///";

/** A name with its owner and the possible originals at that server, likeliest first. */
export interface Reading {
  readonly serverId: string;
  /** All servers that may own the name. More than one only for an id with a suffix. */
  readonly claimants: readonly string[];
  readonly flatId: string | undefined;
  readonly uris: readonly string[];
  /** The same for the expansion of a template. */
  readonly expansions: readonly string[];
}

export interface ServerNames {
  /** The URI scheme of each server, by server id. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly byPrefix: ReadonlyMap<string, string>;
  readonly flat: Claims;
  /** Finds a name's owner. Returns undefined if no configured server's prefix matches. */
  read(name: string): Reading | undefined;
}

export function createServerNames(serverIds: readonly string[]): ServerNames {
  const prefixes = assignPrefixes(serverIds);
  const byPrefix = new Map([...prefixes].map(([id, prefix]) => [prefix, id]));
  const flat = flatClaims(prefixes.keys());

  const asFlat = (name: string): Reading | undefined => {
    const id = name.startsWith(FILE) ? name.slice(FILE.length) : name;
    const claimants = flat.of(id);
    const serverId = claimants[0];
    if (serverId === undefined) return undefined;
    // An id that looks like another server's id with its suffix is not a URI of this server.
    const uris = flat.needsSuffix(serverId, id) ? [] : [id.slice(serverId.length + 1)];
    return { serverId, claimants, flatId: id, uris, expansions: uris };
  };
  const asPrefixed = (name: string): Reading | undefined => {
    const prefix = uriPrefixOf(name);
    const serverId = prefix === undefined ? undefined : byPrefix.get(prefix);
    if (serverId === undefined) return undefined;
    const uri = unprefixed(name)?.uri;
    return {
      serverId,
      claimants: [serverId],
      flatId: undefined,
      uris: uri === undefined ? [] : [uri],
      expansions: unprefixedExpansions(name)?.uris ?? [],
    };
  };
  return {
    prefixes,
    byPrefix,
    flat,
    read(name) {
      const flatReading = asFlat(name);
      // An id may contain a plus sign. Of two matching prefixes, the longer one is more certain.
      return flatReading?.serverId.includes("+") ? flatReading : (asPrefixed(name) ?? flatReading);
    },
  };
}
