/**
 * All routes as a Hono app. On Node, the MCP routes use the raw request and response and tell Hono
 * that they have replied. On other runtimes, the same code runs on web objects.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { ENDPOINT_PATHS, endpointOf } from "../../../auth/access/endpoints.ts";
import { METADATA_PATH, resourceMetadata } from "../../../auth/identity/challenge.ts";
import type { CredentialRequest } from "../../../auth/identity/credentials.ts";
import type { Pairing } from "../../../auth/pairing/pairing.ts";
import type { Cluster } from "../../../cluster/cluster.ts";
import type { ReplicaQuestion } from "../../../cluster/listener.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { metricNames } from "../../../observe/telemetry/metric-names.ts";
import type { Metrics } from "../../../observe/telemetry/metrics.ts";
import type { FrontContext } from "../../context.ts";
import { type HttpExchange, NOTHING, notAllowed, type Serve } from "../exchange.ts";
import { denialCodes, type Guard, type LiveGuards, type Verdict } from "../guard.ts";
import { WebExchange, webHeader } from "../web-exchange.ts";

type Env = { Bindings: Partial<HttpBindings>; Variables: { network: () => string } };

/** The two addresses that there may be: the clients', and one for the API alone. */
export type AddressName = "main" | "admin";

export interface HttpFrontOptions {
  readonly context: FrontContext;
  readonly guards: LiveGuards;
  readonly servers: { readonly settled: boolean };
  /** The admin API, with its whole paths, for clients that passed the guard. */
  readonly admin: {
    fetch(request: Request, principal: Principal): Promise<Response>;
    /** The page for browsers. `authorize`: checks the request's own right to administer. */
    page(request: Request, authorize: () => Verdict | Promise<Verdict>): Promise<Response>;
    /** Answers another replica, which let the caller in. */
    answerReplica(question: ReplicaQuestion): void;
  };
  readonly metrics: { load(): Promise<Pick<Metrics, "contentType" | "text">> };
  /** The pages for logins, under `/connect/`, which check for themselves who asks. */
  readonly connect?: { fetch(request: Request): Promise<Response> } | undefined;
  readonly pairing?: Pairing | undefined;
  /** The other replicas. */
  readonly cluster?: Cluster | undefined;
  readonly configPath?: string | undefined;
}

export interface AppOptions extends HttpFrontOptions {
  /** The address that this app serves. */
  readonly address: AddressName;
  /** Returns the key that the sender of a request is counted under. */
  readonly networkOf: (incoming: IncomingMessage, request: { header(name: string): string | undefined }) => string;
  /** Runs the guard, then the route. */
  readonly admit: (exchange: HttpExchange, route: HttpRoute) => void;
  readonly toExchange: (incoming: IncomingMessage, outgoing: ServerResponse) => HttpExchange;
  readonly endpoint: Readonly<Record<"get" | "post" | "delete", Serve>>;
  readonly sse: Readonly<Record<"get" | "post", Serve>>;
}

/** What answers a request, and the endpoint that it is for. */
export interface HttpRoute {
  readonly serve: Serve;
  readonly endpoint: string;
}

export type App = ReturnType<typeof createApp>;

const NOT_THE_API = "Not found. Only the API, under /api, and /metrics are served here";
const API_PATHS = ["/api/*", "/openapi.json"];
const PAGE_PATHS = ["/ui", "/ui/*"];
const NO_OAUTH = 'No such resource, or neither "gateway.auth.oauth" nor "gateway.auth.pairing" is set';
const CONSENT_PATH = "/oauth/authorize";
const PAIRING_PATHS = [
  "/oauth/*",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/*",
  "/.well-known/openid-configuration",
  "/.well-known/openid-configuration/*",
];
const ELSEWHERE = 'Served at its own address: see "gateway.admin" in the config';

export function createApp(options: AppOptions) {
  const { address, servers } = options;
  const guard = () => options.guards[address];
  const redis = () => options.cluster?.redis;
  const app = new Hono<Env>();
  app.use("*", (c, next) => {
    const { incoming } = c.env ?? {};
    c.set("network", () => (incoming ? options.networkOf(incoming as IncomingMessage, c.req) : ""));
    return next();
  });
  for (const path of [...ENDPOINT_PATHS.flatMap(routesUnder), ...API_PATHS]) app.options(path, preflight(guard));
  // The MCP routes set these headers themselves.
  for (const path of [...API_PATHS, "/metrics", "/health", "/ready"]) app.use(path, crossOrigin(guard));
  if (address === "main") addEndpoints(app, options);
  if (address === "main" && options.connect) addPages(app, options.connect, guard);
  if (address === "main" && options.pairing) addPairing(app, options.pairing, guard);
  if (address === "admin" || options.context.config.current.gateway.admin.port === undefined)
    addAdmin(app, options, guard);
  else
    for (const path of [...API_PATHS, ...PAGE_PATHS, "/metrics"])
      app.all(path, (c) => c.json(notFound(ELSEWHERE), 404));
  for (const path of ["/health", "/ready"]) app.use(path, admission(guard, "place"));
  app.use(`${METADATA_PATH}/*`, admission(guard, "place"));
  // Any page may read where to get a token: that is what a client in a browser does first.
  app.get(`${METADATA_PATH}/*`, (c) => {
    const asked = askedOf(c);
    const metadata = resourceMetadata(
      options.context.config.current.gateway,
      asked,
      asked.path.slice(METADATA_PATH.length),
    );
    if (!metadata) return c.json(notFound(NO_OAUTH), 404);
    return c.json(metadata, 200, { "access-control-allow-origin": "*" });
  });
  app.get("/health", (c) => c.json({ status: "ok", ...(redis() && { redis: redis() }) }));
  app.get("/ready", (c) => (servers.settled ? c.json({ status: "ready" }) : c.json({ status: "starting" }, 503)));
  app.notFound((c) => c.json(address === "main" ? NOTHING : notFound(NOT_THE_API), 404));
  app.onError((error, c) => c.json({ error: { code: "INTERNAL_ERROR", message: error.message } }, 500));
  return { fetch: app.fetch, listener: getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0]) };
}

function notFound(message: string) {
  return { error: { code: "NOT_FOUND", message } };
}

/** Adds the MCP endpoints. */
function addEndpoints(app: Hono<Env>, { admit, toExchange, endpoint, sse }: AppOptions): void {
  const route = (base: (typeof ENDPOINT_PATHS)[number], serve: Serve) => (c: Context<Env>) => {
    // Hono answers HEAD with the GET route, which here would open a stream.
    if (c.req.raw.method === "HEAD") return c.body(null, 405);
    const { incoming, outgoing } = c.env ?? {};
    const isNode = incoming !== undefined && outgoing !== undefined;
    const exchange = isNode
      ? toExchange(incoming as IncomingMessage, outgoing as ServerResponse)
      : new WebExchange(c.req.raw);
    const named = endpointOf(exchange.path, base);
    if (named === undefined) return c.json(NOTHING, 404);
    admit(exchange, { serve, endpoint: named });
    return exchange instanceof WebExchange ? exchange.response : RESPONSE_ALREADY_SENT;
  };

  for (const path of routesUnder("/mcp")) {
    app.post(path, route("/mcp", endpoint.post));
    app.get(path, route("/mcp", endpoint.get));
    app.delete(path, route("/mcp", endpoint.delete));
    app.all(path, route("/mcp", notAllowed("GET, POST, DELETE")));
  }
  for (const path of routesUnder("/sse")) {
    app.get(path, route("/sse", sse.get));
    app.all(path, route("/sse", notAllowed("GET")));
  }
  for (const path of routesUnder("/messages")) {
    app.post(path, route("/messages", sse.post));
    app.all(path, route("/messages", notAllowed("POST")));
  }
}

/** The paths of all endpoints under one of their bases. */
function routesUnder(base: string): string[] {
  return [base, `${base}/`, `${base}/:kind{[ps]}/:name`, `${base}/:kind{[ps]}/:name/`];
}

function addPages(app: Hono<Env>, connect: NonNullable<HttpFrontOptions["connect"]>, guard: () => Guard): void {
  app.all("/connect/*", async (c) => {
    const { header } = askedOf(c);
    // The page's own forms have an Origin that the page itself checks.
    const refused = guard().place({ header: (name) => (name === "origin" ? undefined : header(name)) });
    if (refused)
      return c.json({ error: { code: denialCodes[refused.status], message: refused.message } }, refused.status);
    return connect.fetch(c.req.raw);
  });
}

/** Adds the gateway's own authorization server. It answers only while it is on. */
function addPairing(app: Hono<Env>, pairing: Pairing, guard: () => Guard): void {
  for (const path of PAIRING_PATHS) {
    app.options(path, preflight(guard));
    app.use(path, crossOrigin(guard));
    app.all(path, async (c, next) => {
      const { issuer } = pairing;
      if (issuer === undefined) return next();
      const asked = askedOf(c);
      // The consent page's own form names its own origin. It is checked once more there.
      const isOwnForm = asked.path === CONSENT_PATH && asked.header("origin") === new URL(issuer).origin;
      const header = (name: string) => (isOwnForm && name === "origin" ? undefined : asked.header(name));
      const refused = guard().place({ header });
      if (refused) return c.json({ error: "access_denied", error_description: refused.message }, refused.status);
      return pairing.fetch(c.req.raw, c.get("network")());
    });
  }
}

function addAdmin(app: Hono<Env>, { admin, metrics, context }: AppOptions, guard: () => Guard): void {
  for (const path of API_PATHS)
    app.all(path, admission(guard, "admin"), (c) => admin.fetch(c.req.raw, c.get("principal")));
  for (const path of PAGE_PATHS)
    app.all(path, admission(guard, "place"), (c) => admin.page(c.req.raw, () => guard().admin(askedOf(c))));
  // A person who types the address gets the page; a program gets the usual answer.
  app.get("/", admission(guard, "place"), (c) =>
    /\btext\/html\b/.test(c.req.header("accept") ?? "") ? c.redirect("/ui") : c.notFound(),
  );
  app.get("/metrics", admission(guard, "client"), async (c) => {
    const names = metricNames.find((known) => known === c.req.query("names"));
    if (names === undefined && c.req.query("names") !== undefined) {
      const message = `Unknown names: expected one of ${metricNames.join(", ")}`;
      return c.json({ error: { code: "INVALID_PARAMS", message } }, 400);
    }
    const { contentType, text } = await metrics.load();
    const who = c.get("principal");
    const showsServer = guard().admits(who, "admin") ? undefined : context.access.serversOf(who);
    return c.body(await text({ names, showsServer }), 200, { "content-type": contentType });
  });
}

/**
 * Answers a browser's CORS preflight request. Any other OPTIONS request goes on to the next
 * handler.
 */
function preflight(guard: () => Guard) {
  return createMiddleware<Env>(async (c, next) => {
    const { place, cors } = guard();
    const asked = askedOf(c);
    const headers = place(asked) ? undefined : cors.preflight(asked.header);
    return headers ? c.body(null, 204, headers) : next();
  });
}

function crossOrigin(guard: () => Guard) {
  return createMiddleware(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(guard().cors.answer(c.req.header("origin")) ?? {}))
      c.header(name, value);
  });
}

/** Runs the guard for plain HTTP routes. */
function admission(guard: () => Guard, right: "admin" | "client" | "place") {
  return createMiddleware<Env & { Variables: { principal: Principal } }>(async (c, next) => {
    const verdict = await guard()[right](askedOf(c));
    if (!verdict) return next();
    if (verdict.ok) {
      c.set("principal", verdict.principal);
      return next();
    }
    if (verdict.challenge !== undefined) c.header("www-authenticate", verdict.challenge);
    return c.json({ error: { code: denialCodes[verdict.status], message: verdict.message } }, verdict.status);
  });
}

/** Reads the headers exactly as sent. On Node, a request without a Host header has no host. */
function askedOf(
  c: Pick<Context<Env>, "req" | "env"> & { readonly get: (key: "network") => () => string },
): CredentialRequest {
  const { method, path } = c.req;
  const isNode = c.env?.incoming !== undefined;
  return {
    method,
    path,
    get network() {
      return c.get("network")();
    },
    header: (name) => (isNode ? c.req.header(name) : webHeader(c.req.raw, name)),
  };
}
