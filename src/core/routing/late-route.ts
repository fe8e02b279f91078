/**
 * The route of a request whose server is still starting. It passes the stages under the id of the
 * server that its prefix names. The real route is found before the request is sent.
 *
 * Invariant: until `settle`, the route has no target. A stage that counts on the way in and on the
 * way out must use `countedFor` on the way out.
 */

import type { Call } from "../../mcp/protocol/call.ts";
import type { RoutedMethod } from "../../mcp/protocol/methods.ts";
import type { ResultRules } from "../../mcp/protocol/results/result-rules.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import type { Route } from "./resolve.ts";

export class LateRoute implements Route {
  readonly spec: RoutedMethod;
  readonly countedFor: string;
  /** Resolves the request again. */
  readonly find: (snapshot: Snapshot) => Route;
  serverId: string;
  /** Empty until the route is found: a client's text must not become a metrics label. */
  name = "";
  target = "";
  params = "";
  timeoutMs: number | undefined;
  results: ResultRules | undefined;
  snapshot: Snapshot;
  mimeType: string | undefined;
  isFound = false;

  constructor(call: Call, spec: RoutedMethod, found: Pick<LateRoute, "serverId" | "snapshot" | "find">) {
    this.spec = spec;
    this.serverId = found.serverId;
    this.countedFor = found.serverId;
    this.snapshot = found.snapshot;
    this.find = found.find;
    this.timeoutMs = spec.names === "tool" ? timeoutOf(call.params["name"], found) : undefined;
  }

  settle(route: Route): void {
    this.serverId = route.serverId;
    this.name = route.name;
    this.target = route.target;
    this.params = route.params;
    this.results = route.results;
    this.snapshot = route.snapshot;
    this.mimeType = route.mimeType;
    this.isFound = true;
  }
}

/** Returns the config's timeout for a tool by name or alias, before the server has listed it. */
function timeoutOf(name: unknown, { serverId, snapshot }: Pick<Route, "serverId" | "snapshot">): number | undefined {
  const server = snapshot.servers.find(({ id }) => id === serverId);
  if (!server || typeof name !== "string" || !name.startsWith(server.prefix)) return undefined;
  const rest = name.slice(server.prefix.length);
  const { overrides } = server.tools;
  const named = Object.values(overrides).find(({ alias }) => alias === rest);
  // A tool may carry the prefix in its own name.
  const own = [rest, name].find((known) => Object.hasOwn(overrides, known));
  return (named ?? (own === undefined ? undefined : overrides[own]))?.timeoutMs;
}
