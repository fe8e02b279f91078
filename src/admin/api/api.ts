/**
 * The admin API as a Hono app: exactly one handler for each route of the table.
 *
 * The caller must mount it behind the guard. Requests that act must be JSON: a page of another
 * origin cannot send JSON without a CORS preflight. Every failure answers `{ error: { code, message
 * } }`.
 */

import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as z from "zod";
import { ConfigError } from "../../config/problems/problem.ts";
import { version } from "../../lib/package/version.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import { bodyTooLarge } from "../../mcp/protocol/limit-exceeded.ts";
import { type OwnLogLevel, ownLogLevels } from "../../mcp/protocol/log-levels.ts";
import { logText } from "../../mcp/protocol/log-text.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { masked } from "../../observe/telemetry/audit-mask.ts";
import { reportTokens } from "../../upstream/catalog/token-report.ts";
import type { ViewRequest } from "./access/schema.ts";
import { type ApiRows, logEntry } from "./api-rows.ts";
import { callTool, toolResponse } from "./call-tool.ts";
import type { ExplainRequest } from "./explain/schema.ts";
import { apiFailure, failureResponse } from "./failure.ts";
import type { Feed } from "./feed.ts";
import { approvalHandlers } from "./live/approvals.ts";
import { callDetails, callText } from "./live/call-details.ts";
import { grantHandlers } from "./live/grants.ts";
import type { LiveCalls } from "./live/live-calls.ts";
import { recordingState, startRecording, stopRecording } from "./live/recording.ts";
import type { LiveRequest, RecordRequest } from "./live/schema.ts";
import { serverDetails } from "./live/server-details.ts";
import type { Watches } from "./live/watch-resource.ts";
import { lockHandlers } from "./lock/handlers.ts";
import { loginHandlers } from "./logins/handlers.ts";
import { shownConfig } from "./page/shown-config.ts";
import type { AdminParts } from "./parts.ts";
import { type AdminRoute, plainRoutes, takesBody } from "./route.ts";
import { type AdminRouteName, adminRoutes } from "./routes.ts";

/** `isAsked`: another replica asks, and combines the answers. Nothing in a request sets it. */
type AdminEnv = { Bindings: { principal: Principal; isAsked?: boolean } };

interface Request {
  /** Validated against the route's schemas, as are `query` and `body`. */
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

type Handler = (request: Request) => unknown;

const LINES = 1000;
const NO_INPUT = { params: {}, query: {}, body: undefined };

interface Sources {
  readonly rows: ApiRows;
  readonly feed: Feed;
  readonly calls: LiveCalls;
  readonly watches: Watches;
}

export function createAdminApi(parts: AdminParts, sources: Sources): Hono<AdminEnv> {
  const handlers = handlersOf(parts, sources);
  const app = new Hono<AdminEnv>();
  app.use("/api/*", (c, next) => {
    const maxSize = parts.config.current.limits.bodyBytes;
    const onError = (): Response => {
      parts.onLimit("bodyBytes");
      return failureResponse(apiFailure("TOO_LARGE", bodyTooLarge(maxSize).message));
    };
    return bodyLimit({ maxSize, onError })(c, next);
  });
  const { cluster } = parts;
  const combined = lazy(async () => {
    const { CombinedApi } = await import("./replicas/combine.ts");
    return new CombinedApi(cluster!);
  });
  for (const [key, route] of Object.entries<AdminRoute>(adminRoutes)) {
    const name = key as AdminRouteName;
    app.on(route.method.toUpperCase(), route.path, async (c) => {
      try {
        const { principal, isAsked = false } = c.env;
        const request: Request = {
          params: parsed(route.params, c.req.param(), "parameters"),
          query: parsed(route.query, c.req.query(), "query"),
          body: takesBody(route) ? await readBody(c.req.raw, route.request) : undefined,
          principal,
          signal: c.req.raw.signal,
        };
        const isForOne = route.replicas === "any" || isAsked || cluster?.redis === undefined;
        const answerHere = (other = name) => handlers[other](other === name ? request : { ...request, ...NO_INPUT });
        const { pathname, search } = new URL(c.req.url);
        const answer = isForOne
          ? await answerHere()
          : await (await combined()).answer({ ...request, name, route, path: pathname + search, answerHere });
        return answer instanceof Response ? answer : c.json(answer as Record<string, unknown>);
      } catch (error) {
        return failureResponse(error);
      }
    });
  }
  app.get(plainRoutes.getOpenApi.path, async (c) => {
    // Loaded on demand: most gateways never serve the document.
    const { openApiDocument } = await import("./openapi.ts");
    return c.json(openApiDocument({ version, url: new URL(c.req.url).origin }));
  });
  app.notFound(() => failureResponse(apiFailure("NOT_FOUND", "The API has no such path")));
  return app;
}

function handlersOf(parts: AdminParts, { rows, feed, calls, watches }: Sources): Record<AdminRouteName, Handler> {
  const { activity, keptCalls, logs, servers, config } = parts;
  const known = (id: unknown) => {
    const server = rows.server(String(id));
    if (server) return server;
    throw apiFailure("SERVER_NOT_FOUND", `There is no server "${String(id)}"`);
  };
  const kept = (id: unknown) => {
    const call = keptCalls.find(String(id));
    if (call) return call;
    const { keep } = config.current.calls;
    const why = keep === 0 ? 'no calls are kept ("calls.keep" is 0)' : `the newest ${keep} are kept ("calls.keep")`;
    throw apiFailure("CALL_NOT_FOUND", `The call "${logText(id, 40)}" is not kept: ${why}`);
  };
  const onServer = (act: (id: string) => Promise<void>): Handler => {
    return async ({ params }) => {
      const { id } = known(params["id"]);
      await act(id);
      return known(id);
    };
  };
  const assertUsable = (id: string): void => {
    const { state, reason } = known(id);
    if (state !== "invalid") return;
    throw apiFailure("CONFIG_INVALID", `Server "${id}" cannot be started: ${reason}`);
  };
  return {
    getState: () => rows.state(),
    getHistory: () => listed(feed.history()),
    getConfig: () => shownConfig(config.current, (text) => logs.masker.text(String(masked(text)))),
    getConfigChanges: async () => {
      const { preview } = parts;
      if (!preview) throw apiFailure("NO_CONFIG_FILE", "There is no config file to read again");
      return withConfigErrors(() => preview(config.current));
    },
    openPage: ({ principal }) => ({ code: parts.guards.pages.code(principal) }),
    getPrograms: async () => {
      const { findPrograms, pathFolders } = await import("../doctor/programs.ts");
      return { path: pathFolders(), items: await findPrograms() };
    },
    listServers: () => listed(rows.servers()),
    listTools: ({ query }) => listed(rows.tools((query as { name?: string }).name)),
    listOwnTools: () => listed(rows.ownTools()),
    listPrompts: () => listed(rows.prompts()),
    listResources: () => listed(rows.resources()),
    listTemplates: () => listed(rows.templates()),
    listSubscriptions: () => listed(rows.subscriptions()),
    listSessions: () => listed(rows.sessions()),
    ...grantHandlers(parts),
    ...approvalHandlers(parts),
    ...lockHandlers(parts),
    ...loginHandlers(parts),
    getTokens: () => reportTokens(parts.catalog.snapshot),
    getServer: ({ params }) => serverDetails(known(params["id"]), parts),
    explain: async ({ body }) => {
      const { explain } = await import("./explain/explain.ts");
      return explain(body as ExplainRequest, parts, rows);
    },
    getAccess: async () => (await import("./access/state.ts")).accessState(parts),
    viewAs: async ({ body }) => (await import("./access/view.ts")).viewAs(body as ViewRequest, parts, rows),
    listCalls: () => listed(activity.calls()),
    getCall: ({ params }) =>
      new Response(callDetails(kept(params["id"]), logs), { headers: { "content-type": "application/json" } }),
    getCallText: ({ params }) => callText(kept(params["id"]), logs),
    getRecording: () => recordingState(parts),
    startRecording: ({ body }) => startRecording(parts, body as RecordRequest),
    stopRecording: () => stopRecording(parts),
    startCall: ({ body, principal }) => calls.start(body as LiveRequest, principal),
    answerQuestion: ({ params, body, principal }) => {
      const given = body as { question: string; result?: Record<string, unknown>; refusal?: string };
      calls.answer({ ...given, id: String(params["id"]), principal });
      return { accepted: true };
    },
    watchResource: ({ query, principal }) => watches.open(String(query["uri"]), principal),
    listLogs: ({ query }) => {
      const {
        level = "trace",
        server,
        limit = LINES,
      } = query as { level?: OwnLogLevel; server?: string; limit?: number };
      const least = ownLogLevels.indexOf(level);
      const fitting = logs
        .lines()
        .map(logEntry)
        .filter((line) => ownLogLevels.indexOf(line.level) >= least && (!server || line.server === server));
      return { items: fitting.slice(-limit), total: fitting.length };
    },
    streamEvents: ({ principal }) => {
      const headers = {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      };
      return new Response(feed.open(principal), { headers });
    },
    reload: async () => {
      if (!parts.reload) throw apiFailure("NO_CONFIG_FILE", "There is no config file to read again");
      return withConfigErrors(parts.reload);
    },
    restartServer: onServer(async (id) => {
      assertUsable(id);
      await servers.roster.restart(id);
    }),
    enableServer: onServer((id) => {
      assertUsable(id);
      config.setEnabled(id, true);
      return servers.roster.applied;
    }),
    disableServer: onServer((id) => {
      config.setEnabled(id, false);
      return servers.roster.applied;
    }),
    setLogLevel: ({ body }) => {
      const { level } = body as { level: OwnLogLevel };
      logs.setLevel(level);
      return { level };
    },
    callTool: async ({ body, principal, signal }) => {
      const input = body as { name: string; arguments?: Record<string, unknown> };
      return toolResponse(await callTool(parts, input, { name: "admin API", principal, signal }));
    },
  };
}

async function withConfigErrors<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ConfigError) throw apiFailure(error.code, error.message);
    throw error;
  }
}

function listed<Item>(items: Item[]): { items: Item[]; total: number } {
  return { items, total: items.length };
}

function parsed(type: z.ZodType | undefined, value: unknown, what: string): Record<string, unknown> {
  return type ? (check(type, value, what) as Record<string, unknown>) : {};
}

async function readBody(request: globalThis.Request, type: z.ZodType | undefined): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw apiFailure("NOT_JSON", "Content-Type must be application/json");
  }
  if (!type) return undefined;
  let value: unknown;
  try {
    value = await request.json();
  } catch {
    throw apiFailure("PARSE_ERROR", "The body is not valid JSON");
  }
  return check(type, value, "body");
}

function check(type: z.ZodType, value: unknown, what: string): unknown {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  throw apiFailure("INVALID_PARAMS", `Invalid ${what}: ${where}${issue?.message ?? "not understood"}`);
}
