/**
 * The configured servers by what stands in front of their URIs and ids, and whose a name is by
 * that.
 *
 * What must always hold: it depends on the config alone. A name under a server's prefix is that
 * server's, whatever the servers list and in whatever state they are.
 */
import type { Claims } from "../identifiers/claims.ts";
import { assignPrefixes, flatClaims, unprefixed, unprefixedExpansions, uriPrefixOf } from "../identifiers/uris.ts";

/** `file:///` and a flat id is what some editors make of the id. */
const FILE = "file:///";

/** A name as its owner's: what may be the server's own text for it, likeliest first. */
export interface Reading {
  readonly serverId: string;
  /** All servers that the name may belong to; more than one only for an id with a suffix. */
  readonly claimants: readonly string[];
  readonly flatId: string | undefined;
  readonly uris: readonly string[];
  /** The same for an expansion of a template. */
  readonly expansions: readonly string[];
}

export interface ServerNames {
  /** The URI schemes that stand for the servers, by server id. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly byPrefix: ReadonlyMap<string, string>;
  readonly flat: Claims;
  /** Whose a name is; undefined: it is under no configured server's prefix. */
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
    // What looks like another server's id with its suffix is no URI of this one.
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
      // An id may hold a plus sign: the longer of two prefixes is the more certain one.
      return flatReading?.serverId.includes("+") ? flatReading : (asPrefixed(name) ?? flatReading);
    },
  };
}
