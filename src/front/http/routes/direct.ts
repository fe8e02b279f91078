/**
 * The routes of a gateway that only does its work: the MCP endpoints, `/health` and `/ready`. They
 * are served on Node's own objects.
 *
 * All others belong to Hono, which loads Node's web objects with it: 8 MB that most gateways never
 * need (docs/performance.md). Requests that are rare here go there too: preflights, HEAD, methods
 * that an endpoint does not have. The answers are the same.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ENDPOINT_PATHS, endpointOf } from "../../../auth/access/endpoints.ts";
import { pathOf } from "../../path.ts";
import { type HttpExchange, JSON_HEADERS } from "../exchange.ts";
import { denialCodes } from "../guard.ts";
import type { AppOptions, HttpRoute } from "./app.ts";

export type DirectOptions = Pick<
  AppOptions,
  "admit" | "toExchange" | "endpoint" | "sse" | "guards" | "servers" | "cluster"
>;

/** Serves a request if it is one of these. */
export type ServeDirectly = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export function createDirectRoutes(options: DirectOptions): ServeDirectly {
  const { admit, toExchange, endpoint, sse, guards, servers, cluster } = options;
  const methods = {
    "/mcp": new Map([
      ["POST", endpoint.post],
      ["GET", endpoint.get],
      ["DELETE", endpoint.delete],
    ]),
    "/sse": new Map([["GET", sse.get]]),
    "/messages": new Map([["POST", sse.post]]),
  };

  const routeOf = (method: string, path: string): HttpRoute | undefined => {
    for (const base of ENDPOINT_PATHS) {
      const serve = methods[base].get(method);
      const named = serve && endpointOf(path, base);
      if (named !== undefined) return { serve: serve!, endpoint: named };
    }
    return undefined;
  };

  const reply = (exchange: HttpExchange, status: number, value: unknown): void =>
    exchange.reply(status, JSON_HEADERS, JSON.stringify(value));
  /** Answers for a service manager, a load balancer, or a person. */
  const probe = (exchange: HttpExchange, path: string): void => {
    const { place, cors } = guards.main;
    exchange.shared = cors.answer(exchange.header("origin"));
    const refused = place(exchange);
    if (refused)
      reply(exchange, refused.status, { error: { code: denialCodes[refused.status], message: refused.message } });
    else if (path === "/health") reply(exchange, 200, { status: "ok", redis: cluster?.redis });
    else if (servers.settled) reply(exchange, 200, { status: "ready" });
    else reply(exchange, 503, { status: "starting" });
  };

  return (incoming, outgoing) => {
    const { method = "", url = "/" } = incoming;
    const path = pathOf(url);
    if (method === "GET" && (path === "/health" || path === "/ready")) {
      probe(toExchange(incoming, outgoing), path);
      return true;
    }
    const route = routeOf(method, path);
    if (route) admit(toExchange(incoming, outgoing), route);
    return route !== undefined;
  };
}
