/**
 * The admin API's route table: parameters, body and answer of each route.
 *
 * The HTTP app, the OpenAPI document and the clients all use this table; a route that is not here
 * does not exist. Paths use the router's form (`:id`) and are relative to the gateway's root.
 */
import type * as z from "zod";
import {
  Accepted,
  CallDetails,
  CallParams,
  LiveAnswer,
  LiveRequest,
  liveEvents,
  ServerDetails,
  UpdatesQuery,
  updateEvents,
} from "./live/schema.ts";
import {
  CallRow,
  ConfigChanges,
  GatewayState,
  Health,
  LogEntry,
  LogLevelChange,
  LogQuery,
  listOf,
  OpenApi,
  PageCode,
  PromptRow,
  ReloadResult,
  ResourceRow,
  ServerParams,
  ServerRow,
  SessionRow,
  ShownConfig,
  SubscriptionRow,
  TemplateRow,
  TokenReportSchema,
  ToolCall,
  ToolCallResult,
  ToolRow,
} from "./schema.ts";

/** The groups of routes with their descriptions. */
export const routeTags = {
  gateway: "The gateway as a whole: its state, its config and its events.",
  servers: "The servers behind the gateway.",
  catalog: "The servers' tools, prompts and resources, and calls.",
  clients: "Connected clients and recent calls.",
  logs: "The gateway's log.",
  health: "For load balancers, monitoring and tools.",
} as const;
export type RouteTag = keyof typeof routeTags;

export interface AdminRoute {
  readonly method: "get" | "post" | "put";
  readonly path: string;
  readonly tag: RouteTag;
  readonly summary: string;
  /** Notes for a caller beyond the summary. */
  readonly description: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly request?: z.ZodType;
  /** Absent for text and for the event stream, whose events have their own schemas. */
  readonly response?: z.ZodType;
  /** The media type of a text response. */
  readonly type?: string;
  /** The events of the route's own stream, by type. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  /** The status codes of failures, besides those of the guard. */
  readonly errors?: readonly number[];
}

const noSuchServer = [404] as const;

/** Routes beside the API: the document describes them, but they are not part of it. */
export const plainRoutes = {
  getHealth: {
    method: "get",
    path: "/health",
    tag: "health",
    summary: "Whether the gateway is running",
    description: "Needs no token.",
    response: Health,
  },
  getReady: {
    method: "get",
    path: "/ready",
    tag: "health",
    summary: "Whether every server has connected or failed once",
    description: "Needs no token. Answers 503 until then.",
    response: Health,
  },
  getMetrics: {
    method: "get",
    path: "/metrics",
    tag: "health",
    summary: "Metrics for Prometheus",
    description: "A client's token opens it too.",
    type: "text/plain",
  },
  getOpenApi: {
    method: "get",
    path: "/openapi.json",
    tag: "health",
    summary: "This document",
    description: "Guarded like the API. `servers` holds the address of the request.",
    response: OpenApi,
  },
} as const satisfies Record<string, AdminRoute>;

export const adminRoutes = {
  getState: {
    method: "get",
    path: "/api/state",
    tag: "gateway",
    summary: "The gateway at a glance",
    description: "Version, endpoint, counts, totals, and the problems of the config file.",
    response: GatewayState,
  },
  getConfig: {
    method: "get",
    path: "/api/config",
    tag: "gateway",
    summary: "The config in use",
    description: "With every default, without secrets: values of variables, headers and tokens are masked.",
    response: ShownConfig,
  },
  getConfigChanges: {
    method: "get",
    path: "/api/config/changes",
    tag: "gateway",
    summary: "What a reload would change",
    description: "Reads and validates the config file; changes nothing.",
    response: ConfigChanges,
    errors: [409, 422],
  },
  openPage: {
    method: "post",
    path: "/api/page",
    tag: "gateway",
    summary: "Make a one-time code that opens the page in a browser",
    description:
      "The code belongs into the fragment of the page's address, as `#code=`. It works once, for two minutes.",
    response: PageCode,
  },
  listServers: {
    method: "get",
    path: "/api/servers",
    tag: "servers",
    summary: "Every server and its health",
    description: "In the order of the config, with state, reason, counts and latency.",
    response: listOf(ServerRow),
  },
  getServer: {
    method: "get",
    path: "/api/servers/:id",
    tag: "servers",
    summary: "One server in detail",
    description: "Its command or address, its instructions, and what it wrote to stderr last. Secrets are masked.",
    params: ServerParams,
    response: ServerDetails,
    errors: noSuchServer,
  },
  listTools: {
    method: "get",
    path: "/api/tools",
    tag: "catalog",
    summary: "Every tool",
    description: "As clients see them, with their schemas, token costs and numbers of calls.",
    response: listOf(ToolRow),
  },
  listPrompts: {
    method: "get",
    path: "/api/prompts",
    tag: "catalog",
    summary: "Every prompt",
    description: "As clients see them, with their arguments.",
    response: listOf(PromptRow),
  },
  listResources: {
    method: "get",
    path: "/api/resources",
    tag: "catalog",
    summary: "Every resource",
    description: "As clients see them, with the number of subscribers.",
    response: listOf(ResourceRow),
  },
  listTemplates: {
    method: "get",
    path: "/api/templates",
    tag: "catalog",
    summary: "Every resource template",
    description: "As clients see them.",
    response: listOf(TemplateRow),
  },
  listSubscriptions: {
    method: "get",
    path: "/api/subscriptions",
    tag: "clients",
    summary: "Subscriptions to resources",
    description: "One entry for each client and resource.",
    response: listOf(SubscriptionRow),
  },
  listSessions: {
    method: "get",
    path: "/api/sessions",
    tag: "clients",
    summary: "Connected clients",
    description: "Only clients with a session. Clients that use no sessions are not listed.",
    response: listOf(SessionRow),
  },
  getTokens: {
    method: "get",
    path: "/api/tokens",
    tag: "catalog",
    summary: "Token costs of the tools, and of a shorter list",
    description: "Estimates, by server and by tool.",
    response: TokenReportSchema,
  },
  listCalls: {
    method: "get",
    path: "/api/calls",
    tag: "clients",
    summary: "Recent calls, newest last",
    description: "The newest 1000 calls that have ended.",
    response: listOf(CallRow),
  },
  getCall: {
    method: "get",
    path: "/api/calls/:id",
    tag: "clients",
    summary: "One call in full",
    description: "What was asked and answered, timing, progress and log lines, while it is among the kept ones.",
    params: CallParams,
    response: CallDetails,
    errors: [404],
  },
  startCall: {
    method: "post",
    path: "/api/calls",
    tag: "catalog",
    summary: "Make a call and follow it, as server-sent events",
    description:
      "Events: started, progress, log, question, withdrawn, then result or error. Closing the stream cancels the call.",
    request: LiveRequest,
    events: liveEvents,
    errors: [400],
  },
  answerQuestion: {
    method: "post",
    path: "/api/calls/:id/answer",
    tag: "catalog",
    summary: "Answer a question that a server asked during a call",
    description: "The call must have been made by the same caller, through this API.",
    params: CallParams,
    request: LiveAnswer,
    response: Accepted,
    errors: [400, 404],
  },
  watchResource: {
    method: "get",
    path: "/api/resources/updates",
    tag: "catalog",
    summary: "Subscribe to a resource, as server-sent events",
    description: "Events: subscribed, then updated for each change. Closing the stream ends the subscription.",
    query: UpdatesQuery,
    events: updateEvents,
    errors: [400, 404, 502, 503, 504],
  },
  listLogs: {
    method: "get",
    path: "/api/logs",
    tag: "logs",
    summary: "Recent log lines, newest last",
    description: "The newest 2000 lines are kept. The parameters filter them.",
    query: LogQuery,
    response: listOf(LogEntry),
    errors: [400],
  },
  streamEvents: {
    method: "get",
    path: "/api/events",
    tag: "gateway",
    summary: "All events, as server-sent events",
    description:
      "Stays open. A client that does not read is disconnected; it should reconnect and fetch the lists again.",
  },
  reload: {
    method: "post",
    path: "/api/reload",
    tag: "gateway",
    summary: "Reload the config and apply the changes",
    description: "Only servers and settings that differ are changed. An invalid config changes nothing.",
    response: ReloadResult,
    errors: [409, 422],
  },
  restartServer: {
    method: "post",
    path: "/api/servers/:id/restart",
    tag: "servers",
    summary: "Close a server's connection and open a new one",
    description: "Calls in flight fail. New calls wait for the new connection.",
    params: ServerParams,
    response: ServerRow,
    errors: [...noSuchServer, 422],
  },
  enableServer: {
    method: "post",
    path: "/api/servers/:id/enable",
    tag: "servers",
    summary: "Connect a disabled server",
    description: "Lasts until the next reload.",
    params: ServerParams,
    response: ServerRow,
    errors: [...noSuchServer, 422],
  },
  disableServer: {
    method: "post",
    path: "/api/servers/:id/disable",
    tag: "servers",
    summary: "Disconnect a server and remove its tools, prompts and resources",
    description: "Lasts until the next reload.",
    params: ServerParams,
    response: ServerRow,
    errors: noSuchServer,
  },
  setLogLevel: {
    method: "put",
    path: "/api/log-level",
    tag: "logs",
    summary: "Change the log level of the running gateway",
    description: "Applies to all loggers until a reload changes the level.",
    request: LogLevelChange,
    response: LogLevelChange,
    errors: [400],
  },
  callTool: {
    method: "post",
    path: "/api/tools/call",
    tag: "catalog",
    summary: "Call a tool; a tool that failed is a result with isError, not an error",
    description: "The call is handled like a client's. The result is the server's, byte for byte.",
    request: ToolCall,
    response: ToolCallResult,
    errors: [400, 404, 502, 503, 504],
  },
} as const satisfies Record<string, AdminRoute>;

export type AdminRouteName = keyof typeof adminRoutes;
