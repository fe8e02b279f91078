/**
 * Who sends a request, as the gateway established it.
 *
 * Sessions, parked calls, tasks, subscriptions and limits belong to a principal's `id`, which stays
 * the same when a token is renewed. Nothing here comes from what a client says about itself.
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
