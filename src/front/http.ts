/**
 * The HTTP side as a Hono app: which path is answered by whom, behind the guard.
 *
 * On Node the protocol routes work on the raw request and answer objects and tell Hono that the answer was sent; on other runtimes
 * the same code runs on web objects.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { GoblinError } from "../model/errors.ts";
import type { Core } from "./core.ts";
import { type HttpExchange, JSON_HEADERS } from "./exchange.ts";
import type { Guard } from "./guard.ts";
import { LegacyHttp, replyError } from "./legacy-http.ts";
import { NodeExchange } from "./node-exchange.ts";
import { SseFront, tooLarge } from "./sse.ts";
import { WebExchange } from "./web-exchange.ts";

type Env = { Bindings: Partial<HttpBindings> };

export interface HttpFrontOptions {
  readonly core: Core;
  /** Read for each request, so that a new config takes effect. */
  readonly guard: () => Guard;
  readonly isReady: () => boolean;
}

export interface HttpFront {
  readonly app: Hono<Env>;
  close(): void;
}

export function createHttpFront({ core, guard, isReady }: HttpFrontOptions): HttpFront {
  const legacy = new LegacyHttp(core);
  const sse = new SseFront(core);
  const app = new Hono<Env>();

  /** Runs the guard, then the route, on whichever kind of exchange this is. */
  const route = (serve: (x: HttpExchange, principal: string) => void | Promise<void>) => (c: Context<Env>) => {
    const { incoming, outgoing } = c.env ?? {};
    const x =
      incoming && outgoing ? new NodeExchange(incoming as never, outgoing as never) : new WebExchange(c.req.raw);
    const verdict = guard()((name) => x.header(name));
    if (verdict.ok) void serve(x, verdict.principal);
    else refuse(x, verdict.status, verdict.message);
    return x instanceof WebExchange ? x.response : RESPONSE_ALREADY_SENT;
  };

  app.post(
    "/mcp",
    route(async (x, principal) => {
      const body = await readJson(x, core.limits.bodyBytes);
      if (body) legacy.post(x, body, principal);
    }),
  );
  app.get(
    "/mcp",
    route((x, principal) => legacy.get(x, principal)),
  );
  app.delete(
    "/mcp",
    route((x, principal) => legacy.delete(x, principal)),
  );
  app.all(
    "/mcp",
    route((x) => x.reply(405, { allow: "GET, POST, DELETE" })),
  );
  app.get(
    "/sse",
    route((x, principal) => sse.get(x, principal)),
  );
  app.post(
    "/messages",
    route((x, principal) => sse.post(x, principal)),
  );
  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/ready", (c) => (isReady() ? c.json({ status: "ready" }) : c.json({ status: "starting" }, 503)));
  app.notFound((c) => c.json({ error: { code: "NOT_FOUND", message: "Nothing here. The MCP endpoint is /mcp" } }, 404));
  app.onError((error, c) => c.json({ error: { code: "INTERNAL_ERROR", message: error.message } }, 500));
  return { app, close: () => sse.close() };
}

function refuse(x: HttpExchange, status: 401 | 403, message: string): void {
  const headers = status === 401 ? { ...JSON_HEADERS, "www-authenticate": 'Bearer realm="goblin"' } : JSON_HEADERS;
  x.reply(status, headers, JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }));
}

/** The parsed body, or a reply that says what is wrong with it. */
async function readJson(x: HttpExchange, limit: number): Promise<{ value: unknown; text: string } | undefined> {
  const type = x.header("content-type") ?? "";
  if (!/^application\/json\b/i.test(type)) {
    replyError(x, 415, new GoblinError("INVALID_REQUEST", "Content-Type must be application/json"));
    return undefined;
  }
  const bytes = await x.body(limit).catch(() => null);
  if (bytes === null) return undefined;
  if (!bytes) {
    replyError(x, 413, tooLarge(limit));
    return undefined;
  }
  const text = bytes.toString("utf8");
  try {
    return { value: JSON.parse(text), text };
  } catch {
    replyError(x, 400, new GoblinError("PARSE_ERROR", "Parse error: the body is not valid JSON"));
    return undefined;
  }
}
