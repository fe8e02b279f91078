/**
 * The endpoints of the gateway: everything at `/mcp`, a profile at `/mcp/p/<name>`, and one server
 * under its own names at `/mcp/s/<id>`. The older transport has the same under `/sse`, with
 * `/messages` for what its clients send.
 *
 * Invariant: one endpoint has one spelling here, whatever the path encodes.
 */

export const ENDPOINT_PATHS = ["/mcp", "/sse", "/messages"] as const;

/** An endpoint whose path encodes nothing, which is the usual one: it is spelled as it stands. */
const PLAIN = /^\/[ps]\/[\w.~-]+$/;

/** Returns the path after its first part; undefined if it does not lead to an endpoint. */
export function endpointOf(path: string, base: (typeof ENDPOINT_PATHS)[number]): string | undefined {
  if (!path.startsWith(base)) return undefined;
  const rest = path.slice(base.length);
  // Many clients and proxies add a slash.
  if (rest === "" || rest === "/") return "";
  if (PLAIN.test(rest)) return rest;
  const [, kind, name, slash, ...more] = rest.split("/");
  if ((kind !== "p" && kind !== "s") || !name || (slash ?? "") !== "" || more.length > 0) return undefined;
  try {
    return endpointFor(kind, decodeURIComponent(name));
  } catch {
    return undefined;
  }
}

export function endpointFor(kind: "p" | "s", name: string): string {
  return `/${kind}/${encodeURIComponent(name)}`;
}

/** Returns the profile or server that an endpoint names. */
export function namedBy(endpoint: string): { readonly kind: "p" | "s"; readonly name: string } | undefined {
  if (endpoint === "") return undefined;
  return { kind: endpoint[1] as "p" | "s", name: decodeURIComponent(endpoint.slice(3)) };
}
