/**
 * The HTTP front: sends each request through the guard to its handler.
 *
 * The hot route, POST to the endpoint, is served here on Node's own objects, and so are the few
 * others of `routes/direct.ts`. Hono serves all the rest, and is loaded with the first request that
 * needs it. Its objects were 3 % of a profile of small calls, it takes 40 ms to load, and memory
 * (docs/performance.md).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endpointOf } from "../../auth/access/endpoints.ts";
import type { HandedOver } from "../../cluster/listener.ts";
import { revisionOf } from "../../config/cluster/revision.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import { errorTable, GoblinError, messageOf } from "../../mcp/protocol/errors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { AttachFront } from "../attach/attach.ts";
import { BodyBudget } from "../bodies/body-budget.ts";
import { classifyIncoming, headerEra } from "../classify.ts";
import { LegacyHttp } from "../legacy/http.ts";
import { SseFront } from "../legacy/sse.ts";
import { ModernHttp } from "../modern/http.ts";
import { ToOwner } from "../to-owner.ts";
import { TrustedProxies } from "../trusted-proxies.ts";
import { type HttpExchange, JSON_HEADERS, NOTHING, notAllowed, type Serve } from "./exchange.ts";
import type { Denial, Verdict } from "./guard.ts";
import { KEEP_ALIVE, NodeExchange } from "./node/node-exchange.ts";
import { readJson } from "./read-json.ts";
import { replyError, replyStopping, requestIn } from "./reply.ts";
import { RetryHint } from "./retry-hint.ts";
import type { AddressName, App, AppOptions, HttpFrontOptions, HttpRoute } from "./routes/app.ts";
import { createDirectRoutes } from "./routes/direct.ts";

const NOT_READ_MS = 60_000;
const VERSION_HEADER = "mcp-protocol-version";

export interface HttpFront {
  serve(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Serves a request at the API's own address, where only the API is served. */
  serveAdmin(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Serves a pipe (`goblin stdio --attach`). */
  attach(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The gateway will close: asks the clients that can go elsewhere to do so. */
  drain(): void;
  /** Refuses requests from now on, so that none runs without getting its answer. */
  refuse(): void;
  /** Resolves when other replicas have all sessions, or after this time. */
  left(ms: number): Promise<void>;
  /** Serves a web Request. */
  fetch(request: Request): Promise<Response>;
  close(): void;
}

export function createHttpFront(options: HttpFrontOptions): HttpFront {
  const { guards, cluster } = options;
  const retryHint = new RetryHint();
  const context = { ...options.context, retryHint };
  const toOwner = cluster && new ToOwner(cluster);
  const legacy = new LegacyHttp(context);
  const modern = new ModernHttp(context, toOwner);
  const bodies = new BodyBudget(context.config);
  const sse = new SseFront(context, bodies);
  const proxies = new TrustedProxies(context.config);
  const attached = new AttachFront({ context, guards, bodies, proxies, configPath: options.configPath });
  guards.on("changed", () => {
    const isValid = (principal: Principal): boolean => guards.main.admits(principal, "client");
    for (const front of [legacy, modern, sse, attached]) front.revoke(isValid);
    context.heldTasks.revoke(isValid);
  });
  guards.on("expired", (isLive) => {
    legacy.disconnect(isLive);
    modern.revoke(isLive);
    sse.revoke(isLive);
    attached.revoke(isLive);
  });
  const unread = { ms: NOT_READ_MS, cut: () => context.onLimit("unreadBytes") };
  const shared = { proxies, unread, isStopping: false };

  const { access } = context;
  const serveIf = (verdict: Verdict, exchange: HttpExchange, { serve, endpoint }: HttpRoute): void => {
    if (!verdict.ok) return refuse(exchange, verdict);
    const place = access.placeOf(endpoint, verdict.principal);
    if (!place) {
      const scopes = access.scopesFor(endpoint, verdict.principal);
      if (scopes.length > 0) return refuse(exchange, guards.main.insufficient(exchange, scopes));
      return exchange.reply(404, JSON_HEADERS, JSON.stringify(NOTHING));
    }
    exchange.place = place;
    try {
      serve(exchange, verdict.principal);
    } catch (error) {
      replyError(exchange, error);
    }
  };
  const admit = (exchange: HttpExchange, route: HttpRoute): void => {
    // A POST may carry the answer that a running call waits for.
    if (shared.isStopping && exchange.method !== "POST") return replyStopping(exchange);
    const { client, handedOver, cors } = guards.main;
    // The replica that has the client adds these headers itself.
    if (!exchange.isHandedOver) exchange.shared = cors.answer(exchange.header("origin"));
    const verdict = exchange.isHandedOver ? handedOver(exchange) : client(exchange);
    if (verdict instanceof Promise) void verdict.then((late) => serveIf(late, exchange, route));
    else serveIf(verdict, exchange, route);
  };

  const reading = { ...context, bodies, answersHere: true };
  const bySession = (serve: Serve): Serve => {
    if (!toOwner) return serve;
    return toOwner.session(legacy.named, context.continuity, (exchange, principal) => {
      if (!exchange.isHandedOver) legacy.hold(exchange);
      serve(exchange, principal);
    });
  };
  const post = bySession((exchange, principal) => {
    readJson({ exchange, principal }, reading, (body) => {
      const incoming = classifyIncoming(body, exchange.header(VERSION_HEADER));
      const late = shared.isStopping ? requestIn(incoming) : undefined;
      if (late !== undefined) return replyStopping(exchange, late);
      if ("batch" in incoming) legacy.batch(exchange, incoming.batch, principal);
      else if (incoming.era === "modern") modern.post(exchange, incoming.message, principal);
      else legacy.post(exchange, incoming.message, principal);
    });
    if (exchange.hold) legacy.arrives(exchange, principal);
  });
  const get = bySession((exchange, principal) => legacy.get(exchange, principal));
  const end = bySession((exchange, principal) => legacy.delete(exchange, principal));
  const sent: Serve = (exchange, principal) => sse.post(exchange, principal);
  const message = toOwner?.stream(sse.named, sent) ?? sent;
  const endpointRoutes = {
    post,
    get: (exchange: HttpExchange, principal: Principal) =>
      isModern(exchange) ? postOnly(exchange) : get(exchange, principal),
    delete: (exchange: HttpExchange, principal: Principal) =>
      isModern(exchange) ? postOnly(exchange) : end(exchange, principal),
  };

  const mainPost: HttpRoute = { serve: post, endpoint: "" };

  const toExchange = (incoming: IncomingMessage, outgoing: ServerResponse): HttpExchange =>
    new NodeExchange(incoming, outgoing, shared);
  const routes = {
    admit,
    toExchange,
    endpoint: endpointRoutes,
    sse: { get: (exchange, principal) => sse.get(exchange, principal), post: message },
  } satisfies Pick<AppOptions, "admit" | "toExchange" | "endpoint" | "sse">;
  const serveDirectly = createDirectRoutes({ ...options, ...routes });

  const networkOf: AppOptions["networkOf"] = (incoming, request) => proxies.networkOf(incoming.socket, request);
  const load = async (address: AddressName): Promise<App> => {
    const { createApp } = await import("./routes/app.ts");
    return createApp({ ...options, ...routes, address, networkOf });
  };
  const apps = { main: lazy(() => load("main")), admin: lazy(() => load("admin")) };

  const serveByApp = async (
    address: AddressName,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    let listener: App["listener"];
    try {
      ({ listener } = await apps[address]());
    } catch (error) {
      const why = `The gateway's program files can no longer be read; restart the gateway (${messageOf(error)})`;
      return replyError(toExchange(incoming, outgoing), new GoblinError("INTERNAL_ERROR", why));
    }
    // If the client disconnected while Hono was loading, its `close` event has already fired.
    if (outgoing.destroyed) return;
    outgoing.setHeader("keep-alive", KEEP_ALIVE);
    await listener(incoming, outgoing);
  };

  const serveHandedOver = ({ incoming, outgoing, network, asked }: HandedOver): void => {
    if (asked !== undefined) return options.admin.answerReplica({ incoming, outgoing, by: asked });
    const exchange = new NodeExchange(incoming, outgoing, {
      ...shared,
      isStopping: false,
      handedFrom: network,
    });
    // At once: whether it is admitted may take a while to know.
    legacy.hold(exchange);
    const method = exchange.method.toLowerCase();
    const endpoint = endpointOf(exchange.path, "/mcp");
    const serve = Object.hasOwn(endpointRoutes, method) ? endpointRoutes[method as "post"] : undefined;
    const channel = method === "post" ? endpointOf(exchange.path, "/messages") : undefined;
    if (endpoint !== undefined && serve) admit(exchange, { serve, endpoint });
    else if (channel !== undefined) admit(exchange, { serve: message, endpoint: channel });
    else exchange.reply(404, JSON_HEADERS, JSON.stringify(NOTHING));
  };
  cluster?.use({
    serve: serveHandedOver,
    limit: () => context.config.current.limits.handOvers,
    onLimit: context.onLimit,
    hasMoved: (incoming) => legacy.hasMoved(incoming),
    open: () => legacy.ids(),
    surrender: (id) => legacy.surrender(id),
    describe: () => ({
      version: String(context.directory.serverInfo["version"]),
      revision: revisionOf(context.config.current),
      sessions: context.sessions.size,
    }),
  });

  return {
    serve(incoming, outgoing) {
      const { method, url = "/" } = incoming;
      const endpoint = method === "POST" ? endpointOf(url, "/mcp") : undefined;
      if (endpoint === undefined) {
        if (!serveDirectly(incoming, outgoing)) void serveByApp("main", incoming, outgoing);
      } else admit(toExchange(incoming, outgoing), endpoint === "" ? mainPost : { serve: post, endpoint });
    },
    attach: (incoming, socket, head) => attached.connect(incoming, socket, head),
    drain() {
      attached.drain();
      retryHint.begin(cluster !== undefined);
      if (cluster) legacy.leave();
    },
    refuse() {
      shared.isStopping = true;
      sse.refuse();
    },
    left: (ms) => legacy.left(ms),
    serveAdmin: (incoming, outgoing) => void serveByApp("admin", incoming, outgoing),
    async fetch(request) {
      return (await apps.main()).fetch(request);
    },
    close() {
      guards.close();
      legacy.close();
      modern.close();
      sse.close();
      attached.close();
    },
  };
}

/** Without a body, the header is all there is to go by. */
function isModern(exchange: HttpExchange): boolean {
  return headerEra(exchange.header(VERSION_HEADER)) === "modern";
}

const postOnly = notAllowed("POST");

function refuse(exchange: HttpExchange, { status, message, challenge }: Denial): void {
  const headers = challenge === undefined ? JSON_HEADERS : { ...JSON_HEADERS, "www-authenticate": challenge };
  const error = { code: errorTable.INVALID_REQUEST.rpc, message };
  exchange.reply(status, headers, JSON.stringify({ jsonrpc: "2.0", id: null, error }));
}
