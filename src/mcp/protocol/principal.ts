/**
 * Who sends a request, as the gateway established it, and what it may see.
 *
 * Sessions, parked calls, tasks, subscriptions and limits belong to a principal's `id`, which stays
 * the same when a token is renewed. What a client says about itself decides only how its tools are
 * listed, never what it may see.
 */
export interface Principal {
  /** Identifies the principal; the empty string if no authentication is required. */
  readonly id: string;
  /** A name for people: logs, audit, the API. Never a token or a part of one. */
  readonly name: string;
  /** The OAuth client that the principal used. */
  readonly client?: string | undefined;
  readonly groups: readonly string[];
  /** The scopes of its token; undefined if its credential is not limited by scopes. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** The profiles that its credential is tied to; undefined: it is tied to none by itself. */
  readonly profiles?: readonly string[] | undefined;
  /** Whether it may administer the gateway. */
  readonly isAdmin: boolean;
  /** When its credential expires, in milliseconds since 1970; Infinity if never. */
  readonly expiresAt: number;
}

/** The sender of a request to a gateway that requires no authentication. */
export const ANYONE: Principal = {
  id: "",
  name: "",
  groups: [],
  scopes: undefined,
  isAdmin: false,
  expiresAt: Number.POSITIVE_INFINITY,
};

/** What is known about clients of one kind, and how tools are listed to them. */
export interface ClientKind {
  /** Replaces `tools.expose`. */
  readonly expose?: "all" | "search" | "auto" | undefined;
  /** The listed names of tools that are always listed. */
  readonly pinned?: readonly string[] | undefined;
  /** They search their tools themselves: a long list costs them nothing. */
  readonly searchesTools?: boolean | undefined;
  readonly maxTools?: number | undefined;
  readonly maxNameLength?: number | undefined;
}

/**
 * What a client may see of the catalog. Immutable. Two visibilities with the same key show the
 * same, so their clients share one view. A client without one sees everything. What a visibility
 * hides does not exist for its clients.
 */
export interface Visibility {
  /** Identifies what is shown. It changes when a profile or a rule does. */
  readonly key: string;
  /** The profile's name, for people; several are joined by a comma. */
  readonly profile: string | undefined;
  /** The only server, which is then shown under its own names and URIs. */
  readonly server: string | undefined;
  /** Replaces `tools.expose`. */
  readonly expose: "all" | "search" | "auto" | undefined;
  /** The kind of client, if tools are listed to it in a way of their own. */
  readonly kind?: ClientKind | undefined;
  /** Whether the server exists for these clients. */
  showsServer(serverId: string): boolean;
  /** Whether one of its entries does. */
  shows(entry: VisibleEntry): boolean;
  /**
   * Returns a tool's definition, in JSON, without the arguments that rules set or hide. Undefined:
   * no rule does.
   */
  readonly shape?: ((entry: VisibleEntry, text: string) => string) | undefined;
  /**
   * Decides about a request by its arguments. Returns the params that its server gets, or throws.
   * Undefined: no rule depends on arguments, and none asks.
   */
  readonly admit?: ((request: ArgumentsToAdmit) => string | AskFirst) | undefined;
  /** Whether a person is asked about some use of the entry. Undefined: about none. */
  readonly asks?: ((entry: VisibleEntry) => boolean) | undefined;
  /** Whether a rule has a person asked about some of its clients' calls. */
  readonly mayAsk?: boolean | undefined;
}

/** A request that a person must allow before its server gets it. */
export interface AskFirst {
  /** The params that the server would get, in JSON. */
  readonly params: string;
  /** The rules that say so, by name. */
  readonly rule: string;
  /** Why, in the operator's own words. */
  readonly reason: string | undefined;
  /** Identifies what the rules say. */
  readonly revision: string;
}

/** A request for an entry that its client sees. */
export interface ArgumentsToAdmit extends VisibleEntry {
  readonly who: Principal;
  /** The params that the server would get, in JSON. */
  readonly params: string;
  /** The entry's name as the client knows it. */
  readonly shownName: string;
}

/** An entry as its server knows it. Exposed names play no part: they may move. */
export interface VisibleEntry {
  readonly serverId: string;
  readonly kind: "tool" | "prompt" | "resource" | "template";
  /** The server's own name, URI or URI template. */
  readonly name: string;
  /** The server's definition. Undefined for a URI that is in no list. */
  readonly definition: Readonly<Record<string, unknown>> | undefined;
}

/** Whose view of the catalog is wanted. */
export interface Viewer {
  /** The client's key. It may have lists of its own. */
  readonly key: string;
  /** Its principal's id, which may have lists of its own too. */
  readonly principal?: string;
  readonly visibility: Visibility | undefined;
}

/** Where a client connects: the endpoint, and what it may see there. */
export interface Place {
  /** What follows `/mcp` in its path: empty, `/p/<profile>` or `/s/<server>`. */
  readonly endpoint: string;
  readonly visibility: Visibility | undefined;
  /** Present if the visibility depends on what the client says about itself. */
  readonly forClient?: ((info: Readonly<Record<string, unknown>>) => Visibility | undefined) | undefined;
}

/** Returns the visibility of a client with this description at a place. */
export function visibilityAt(
  { visibility, forClient }: Place,
  info: Readonly<Record<string, unknown>>,
): Visibility | undefined {
  return forClient ? forClient(info) : visibility;
}

/**
 * Returns the owner of what a principal starts at an endpoint: the principal, but at each endpoint
 * for itself. No principal's id begins with a slash.
 */
export function ownerAt({ id }: Principal, endpoint: string): string {
  return id === "" || endpoint === "" ? id : `${endpoint} ${id}`;
}

/** The main endpoint of a gateway that shows everything to everybody. */
export const EVERYWHERE: Place = { endpoint: "", visibility: undefined };

/** Leaves out the servers that a client may not see. */
export function shownTo<Server extends { readonly id: string }>({ visibility }: Viewer, servers: Server[]): Server[] {
  return visibility ? servers.filter(({ id }) => visibility.showsServer(id)) : servers;
}
