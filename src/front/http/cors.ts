/**
 * CORS headers: they let pages of the origins in `gateway.allowedOrigins` talk to the gateway, and
 * no others.
 *
 * Invariant: an origin that is not in the config gets no CORS headers, not even a local one, so its
 * pages cannot read an answer. A preflight request carries no token; the request that follows it
 * still needs one.
 */

export type CorsHeaders = Readonly<Record<string, string>>;

export interface Cors {
  /** Returns the headers for every answer to a page of this origin. */
  answer(origin: string | undefined): CorsHeaders | undefined;
  /**
   * Returns the headers for a preflight request. Undefined: the request is not a preflight, or its
   * origin is not allowed.
   */
  preflight(header: (name: string) => string | undefined): CorsHeaders | undefined;
}

const METHODS = "GET, POST, PUT, DELETE";
const HEADERS = [
  "authorization",
  "content-type",
  "accept",
  "last-event-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
];
/** Headers that mirror a tool's arguments. The tools choose their names. */
const MIRROR = /^mcp-param-[\w.-]{1,100}$/;
const MAX_MIRRORS = 100;
const KNOWN_FOR_S = "600";

export function createCors(allowedOrigins: readonly string[]): Cors {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  const answer = (origin: string | undefined): CorsHeaders | undefined => {
    if (origin === undefined || !(origins.has(origin.toLowerCase()) || origins.has("*"))) return undefined;
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "Mcp-Session-Id",
      vary: "Origin",
    };
  };
  return {
    answer,
    preflight(header) {
      const shared = answer(header("origin"));
      if (!shared || header("access-control-request-method") === undefined) return undefined;
      const asked = (header("access-control-request-headers") ?? "").split(",", MAX_MIRRORS);
      const mirrors = asked.map((name) => name.trim().toLowerCase()).filter((name) => MIRROR.test(name));
      return {
        ...shared,
        "access-control-allow-methods": METHODS,
        "access-control-allow-headers": [...HEADERS, ...mirrors].join(", "),
        "access-control-max-age": KNOWN_FOR_S,
      };
    },
  };
}
