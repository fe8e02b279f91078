/**
 * All routes as a Hono app. On Node the protocol's own work on the raw request and answer objects
 * and tell Hono that the answer was sent; on other runtimes the same code runs on web objects.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { HttpExchange } from "./exchange.ts";
import type { LiveGuard } from "./guard.ts";
import { type HttpFrontOptions, notAllowed, type Serve } from "./http.ts";
import { WebExchange } from "./web-exchange.ts";

type Env = { Bindings: Partial<HttpBindings> };

export interface AppOptions extends HttpFrontOptions {
  /** Runs the guard, then the route. */
  readonly admit: (x: HttpExchange, serve: Serve) => void;
  readonly exchange: (incoming: IncomingMessage, outgoing: ServerResponse) => HttpExchange;
  readonly endpoint: Readonly<Record<"get" | "post" | "delete", Serve>>;
  readonly sse: Readonly<Record<"get" | "post", Serve>>;
}

export function createApp({ admit, exchange, endpoint, sse, guard, servers, admin, metrics }: AppOptions) {
  const app = new Hono<Env>();

  const route = (serve: Serve) => (c: Context<Env>) => {
    // Hono answers HEAD with the GET route, which here would open a stream.
    if (c.req.raw.method === "HEAD") return c.body(null, 405);
    const { incoming, outgoing } = c.env ?? {};
    if (incoming && outgoing) {
      admit(exchange(incoming as IncomingMessage, outgoing as ServerResponse), serve);
      return RESPONSE_ALREADY_SENT;
    }
    const x = new WebExchange(c.req.raw);
    admit(x, serve);
    return x.response;
  };

  app.post("/mcp", route(endpoint.post));
  app.get("/mcp", route(endpoint.get));
  app.delete("/mcp", route(endpoint.delete));
  app.all("/mcp", route(notAllowed("GET, POST, DELETE")));
  app.get("/sse", route(sse.get));
  app.post("/messages", route(sse.post));
  const guarded = admission(guard);
  app.all("/api/*", guarded, (c) => admin.fetch(c.req.raw, c.get("principal")));
  app.get("/metrics", guarded, async (c) => {
    const { contentType, text } = await metrics.load();
    return c.body(await text(), 200, { "content-type": contentType });
  });
  app.all("/sse", route(notAllowed("GET")));
  app.all("/messages", route(notAllowed("POST")));
  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/ready", (c) => (servers.settled ? c.json({ status: "ready" }) : c.json({ status: "starting" }, 503)));
  app.notFound((c) => c.json({ error: { code: "NOT_FOUND", message: "Nothing here. The MCP endpoint is /mcp" } }, 404));
  app.onError((error, c) => c.json({ error: { code: "INTERNAL_ERROR", message: error.message } }, 500));
  return { fetch: app.fetch, listener: getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]) };
}

/** The guard for routes that are plain HTTP. */
function admission(guard: LiveGuard) {
  return createMiddleware<{ Variables: { principal: string } }>(async (c, next) => {
    const verdict = guard.check((name) => c.req.header(name));
    if (verdict.ok) {
      c.set("principal", verdict.principal);
      return next();
    }
    const code = verdict.status === 401 ? "UNAUTHORIZED" : "FORBIDDEN";
    if (verdict.status === 401) c.header("www-authenticate", 'Bearer realm="goblin"');
    return c.json({ error: { code, message: verdict.message } }, verdict.status);
  });
}
