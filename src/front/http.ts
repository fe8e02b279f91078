/**
 * The HTTP side as a Hono app: which path is answered by whom, behind the guard.
 *
 * On Node the protocol routes work on the raw request and answer objects and tell Hono that the answer was sent; on other runtimes
 * the same code runs on web objects. The one route that every call takes is also offered as `take`, which Node's server asks first: Hono's
 * request, context and response objects were 3 % of a profile of small calls (docs/performance.md).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { Core } from "./core.ts";
import { type HttpExchange, JSON_HEADERS } from "./exchange.ts";
import type { Guard } from "./guard.ts";
import { LegacyHttp } from "./legacy-http.ts";
import { isModern, ModernHttp, namesModern } from "./modern-http.ts";
import { NodeExchange } from "./node-exchange.ts";
import { readJson } from "./read-json.ts";
import { replyError } from "./reply.ts";
import { SseFront } from "./sse.ts";
import { WebExchange } from "./web-exchange.ts";

type Serve = (x: HttpExchange, principal: string) => void;
type Env = { Bindings: Partial<HttpBindings> };

const NOT_READ_MS = 60_000;

export interface HttpFrontOptions {
  readonly core: Core;
  /** Read for each request, so that a new config takes effect. */
  readonly guard: () => Guard;
  readonly isReady: () => boolean;
  /** The admin API, with its whole paths. */
  readonly admin: Hono<{ Variables: { principal: string } }>;
  /** Made when it is first asked for. */
  readonly metrics: () => Promise<{ readonly contentType: string; text(): Promise<string> }>;
}

export interface HttpFront {
  readonly app: Hono<Env>;
  /** Serves a POST to the endpoint on Node's own objects; false: it is another request, for the app. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  close(): void;
}

export function createHttpFront({ core, guard, isReady, admin, metrics }: HttpFrontOptions): HttpFront {
  const legacy = new LegacyHttp(core);
  const modern = new ModernHttp(core);
  const sse = new SseFront(core);
  const app = new Hono<Env>();
  const unread = { ms: NOT_READ_MS, cut: () => core.exceeded("unreadBytes") };

  /** Runs the guard, then the route, on whichever kind of exchange this is. */
  const route = (serve: Serve) => (c: Context<Env>) => {
    // Hono answers HEAD with the GET route, which here would open a stream.
    if (c.req.raw.method === "HEAD") return c.body(null, 405);
    const { incoming, outgoing } = c.env ?? {};
    const x =
      incoming && outgoing
        ? new NodeExchange(incoming as never, outgoing as never, unread)
        : new WebExchange(c.req.raw);
    admit(x, serve);
    return x instanceof WebExchange ? x.response : RESPONSE_ALREADY_SENT;
  };

  const admit = (x: HttpExchange, serve: Serve): void => {
    const verdict = guard()((name) => x.header(name));
    if (!verdict.ok) return refuse(x, verdict.status, verdict.message);
    try {
      serve(x, verdict.principal);
    } catch (error) {
      replyError(x, 500, error);
    }
  };

  const post: Serve = (x, principal) =>
    readJson(x, core, (body) => {
      if (isModern(x, body.value)) modern.post(x, body, principal);
      else legacy.post(x, body, principal);
    });

  app.post("/mcp", route(post));
  app.get(
    "/mcp",
    route((x, principal) => (namesModern(x) ? postOnly(x) : legacy.get(x, principal))),
  );
  app.delete(
    "/mcp",
    route((x, principal) => (namesModern(x) ? postOnly(x) : legacy.delete(x, principal))),
  );
  app.all("/mcp", route(notAllowed("GET, POST, DELETE")));
  app.get(
    "/sse",
    route((x, principal) => sse.get(x, principal)),
  );
  app.post(
    "/messages",
    route((x, principal) => sse.post(x, principal)),
  );
  const guarded = admission(guard);
  app.use("/api/*", guarded);
  app.route("/", admin);
  app.get("/metrics", guarded, async (c) => {
    const { contentType, text } = await metrics();
    return c.body(await text(), 200, { "content-type": contentType });
  });
  app.all("/sse", route(notAllowed("GET")));
  app.all("/messages", route(notAllowed("POST")));
  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/ready", (c) => (isReady() ? c.json({ status: "ready" }) : c.json({ status: "starting" }, 503)));
  app.notFound((c) => c.json({ error: { code: "NOT_FOUND", message: "Nothing here. The MCP endpoint is /mcp" } }, 404));
  app.onError((error, c) => c.json({ error: { code: "INTERNAL_ERROR", message: error.message } }, 500));
  return { app, take, close };

  function take(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    if (incoming.method !== "POST" || incoming.url !== "/mcp") return false;
    admit(new NodeExchange(incoming, outgoing, unread), post);
    return true;
  }

  function close(): void {
    modern.close();
    sse.close();
  }
}

/** The guard for routes that are plain HTTP. */
function admission(guard: () => Guard) {
  return createMiddleware<{ Variables: { principal: string } }>(async (c, next) => {
    const verdict = guard()((name) => c.req.header(name));
    if (verdict.ok) {
      c.set("principal", verdict.principal);
      return next();
    }
    const code = verdict.status === 401 ? "UNAUTHORIZED" : "FORBIDDEN";
    if (verdict.status === 401) c.header("www-authenticate", 'Bearer realm="goblin"');
    return c.json({ error: { code, message: verdict.message } }, verdict.status);
  });
}

function notAllowed(allow: string): (x: HttpExchange) => void {
  return (x) => x.reply(405, { allow });
}

const postOnly = notAllowed("POST");

function refuse(x: HttpExchange, status: 401 | 403, message: string): void {
  const headers = status === 401 ? { ...JSON_HEADERS, "www-authenticate": 'Bearer realm="goblin"' } : JSON_HEADERS;
  x.reply(status, headers, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));
}
