/**
 * The admin API's route table: parameters, body and answer of each route.
 *
 * The HTTP app, the OpenAPI document and the clients all use this table; a route that is not here
 * does not exist. Paths use the router's form (`:id`) and are relative to the gateway's root.
 */
import type * as z from "zod";
import {
  CallRow,
  GatewayState,
  Health,
  LogEntry,
  LogLevelChange,
  LogQuery,
  listOf,
  OpenApi,
  PromptRow,
  ReloadResult,
  ResourceRow,
  ServerParams,
  ServerRow,
  SessionRow,
  SubscriptionRow,
  TemplateRow,
  TokenReportSchema,
  ToolCall,
  ToolCallResult,
  ToolRow,
} from "./schema.ts";

/** The groups of routes with their descriptions. */
export const routeTags = {
  gateway: "The gateway as a whole: its state, its config, what happens in it.",
  servers: "The servers behind the gateway.",
  catalog: "What the servers offer, and calls to it.",
  clients: "Who is connected, and what was called.",
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
    summary: "Whether the gateway runs",
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
    description: "Opened by a client's token too.",
    type: "text/plain",
  },
  getOpenApi: {
    method: "get",
    path: "/openapi.json",
    tag: "health",
    summary: "This document",
    description: "Guarded like the API, with the address that it was asked at as the server.",
    response: OpenApi,
  },
} as const satisfies Record<string, AdminRoute>;

export const adminRoutes = {
  getState: {
    method: "get",
    path: "/api/state",
    tag: "gateway",
    summary: "The gateway at a glance",
    description: "Version, endpoint, counts, totals, and what is wrong with the config file, if anything.",
    response: GatewayState,
  },
  listServers: {
    method: "get",
    path: "/api/servers",
    tag: "servers",
    summary: "Every server and its health",
    description: "In the order of the config, with state, reason, counts and latency.",
    response: listOf(ServerRow),
  },
  listTools: {
    method: "get",
    path: "/api/tools",
    tag: "catalog",
    summary: "Every tool",
    description: "As clients see them, with their schemas, what they cost a model and how often they were called.",
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
    summary: "Who is subscribed to what",
    description: "Each subscription of a client to a resource.",
    response: listOf(SubscriptionRow),
  },
  listSessions: {
    method: "get",
    path: "/api/sessions",
    tag: "clients",
    summary: "Connected clients",
    description: "Clients that have a session; one without sessions is not here.",
    response: listOf(SessionRow),
  },
  getTokens: {
    method: "get",
    path: "/api/tokens",
    tag: "catalog",
    summary: "What the tools cost a model, and what listing fewer of them would",
    description: "By server and by tool, estimated.",
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
  listLogs: {
    method: "get",
    path: "/api/logs",
    tag: "logs",
    summary: "Recent log lines, newest last",
    description: "Of the lines that are kept, up to 2000, those that fit.",
    query: LogQuery,
    response: listOf(LogEntry),
    errors: [400],
  },
  streamEvents: {
    method: "get",
    path: "/api/events",
    tag: "gateway",
    summary: "Everything that happens, as server-sent events",
    description: "Stays open. A stream that is not read is ended; its client reads the lists anew and comes back.",
  },
  reload: {
    method: "post",
    path: "/api/reload",
    tag: "gateway",
    summary: "Read the config again and apply what changed",
    description: "Only what differs is touched. A config that is not valid changes nothing.",
    response: ReloadResult,
    errors: [409, 422],
  },
  restartServer: {
    method: "post",
    path: "/api/servers/:id/restart",
    tag: "servers",
    summary: "Close a server's connection and open a new one",
    description: "Calls under way fail; calls that come meanwhile wait.",
    params: ServerParams,
    response: ServerRow,
    errors: noSuchServer,
  },
  enableServer: {
    method: "post",
    path: "/api/servers/:id/enable",
    tag: "servers",
    summary: "Connect a disabled server",
    description: "Lasts until the config says otherwise.",
    params: ServerParams,
    response: ServerRow,
    errors: noSuchServer,
  },
  disableServer: {
    method: "post",
    path: "/api/servers/:id/disable",
    tag: "servers",
    summary: "Disconnect a server and withdraw what it offers",
    description: "Lasts until the config says otherwise.",
    params: ServerParams,
    response: ServerRow,
    errors: noSuchServer,
  },
  setLogLevel: {
    method: "put",
    path: "/api/log-level",
    tag: "logs",
    summary: "Change the log level of the running gateway",
    description: "For every logger, until the config changes its level.",
    request: LogLevelChange,
    response: LogLevelChange,
    errors: [400],
  },
  callTool: {
    method: "post",
    path: "/api/tools/call",
    tag: "catalog",
    summary: "Call a tool; a tool that failed is a result with isError, not an error",
    description: "The call takes the same way as a client's. The result is what the server answered, byte for byte.",
    request: ToolCall,
    response: ToolCallResult,
    errors: [400, 404, 502, 503, 504],
  },
} as const satisfies Record<string, AdminRoute>;

export type AdminRouteName = keyof typeof adminRoutes;
