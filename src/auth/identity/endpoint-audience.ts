/**
 * Tokens that were issued for one endpoint. A client asks its issuer for the resource that the
 * metadata of its endpoint names, so a token may be for `https://…/mcp/p/research` alone.
 *
 * Invariant: such a token opens that endpoint and no other route.
 */
import { type ENDPOINT_PATHS, endpointFor, endpointOf } from "../access/endpoints.ts";

type Base = (typeof ENDPOINT_PATHS)[number];

/** Returns those of a token's audiences that are endpoints of this gateway. */
export function endpointAudiences(audience: unknown, publicUrl: string | undefined): string[] {
  if (publicUrl === undefined) return [];
  return textsIn(audience).filter(
    (one) => one.startsWith(`${publicUrl}/`) && endpointPath(one.slice(publicUrl.length)) !== undefined,
  );
}

/**
 * Returns the endpoints that a token is limited to; undefined if it is for the gateway as a whole.
 */
export function limitedTo(
  audience: unknown,
  { accepted, publicUrl }: { readonly accepted: readonly string[]; readonly publicUrl: string | undefined },
): ReadonlySet<string> | undefined {
  if (textsIn(audience).some((one) => accepted.includes(one))) return undefined;
  const base = publicUrl ?? "";
  return new Set(endpointAudiences(audience, publicUrl).map((one) => endpointPath(one.slice(base.length))!));
}

/** Returns the endpoint that a path belongs to, in its usual spelling. */
export function endpointPath(path: string): string | undefined {
  for (const base of ["/mcp", "/sse"] satisfies Base[]) {
    const endpoint = endpointOf(path, base);
    if (endpoint !== undefined) return base + endpoint;
  }
  // What clients of the older transport send.
  const sent = endpointOf(path, "/messages");
  return sent === undefined ? undefined : `/sse${sent}`;
}

/** Returns the endpoints of one server, of both transports. */
export function endpointsOf(serverId: string): ReadonlySet<string> {
  const endpoint = endpointFor("s", serverId);
  return new Set([`/mcp${endpoint}`, `/sse${endpoint}`]);
}

function textsIn(audience: unknown): string[] {
  const all: unknown[] = Array.isArray(audience) ? audience : [audience];
  return all.filter((one) => typeof one === "string");
}
