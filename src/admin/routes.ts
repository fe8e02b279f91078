/**
 * The admin API as data: every route with its parameters, body and answer.
 *
 * The HTTP app mounts these, the OpenAPI document describes these, the clients call these; a route
 * that is not here does not exist. Paths are written in the router's form (`:id`) and are relative
 * to the gateway's root.
 */
import type * as z from "zod";
import {
  Call,
  GatewayState,
  LogEntry,
  LogLevelChange,
  LogQuery,
  listOf,
  Prompt,
  ReloadResult,
  Resource,
  Server,
  ServerParams,
  Session,
  Subscription,
  Template,
  TokenReport,
  Tool,
  ToolCall,
  ToolCallResult,
} from "./schema.ts";

export interface AdminRoute {
  readonly method: "get" | "post" | "put";
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly request?: z.ZodType;
  /** Absent for the event stream, whose events have schemas of their own. */
  readonly response?: z.ZodType;
  /** The failures that a caller can run into, beyond 401. */
  readonly errors?: readonly number[];
}

const noSuchServer = [404] as const;

export const adminRoutes = {
  getState: { method: "get", path: "/api/state", summary: "The gateway at a glance", response: GatewayState },
  listServers: {
    method: "get",
    path: "/api/servers",
    summary: "Every server and its health",
    response: listOf(Server),
  },
  listTools: { method: "get", path: "/api/tools", summary: "Every tool", response: listOf(Tool) },
  listPrompts: { method: "get", path: "/api/prompts", summary: "Every prompt", response: listOf(Prompt) },
  listResources: { method: "get", path: "/api/resources", summary: "Every resource", response: listOf(Resource) },
  listTemplates: {
    method: "get",
    path: "/api/templates",
    summary: "Every resource template",
    response: listOf(Template),
  },
  listSubscriptions: {
    method: "get",
    path: "/api/subscriptions",
    summary: "Who is subscribed to what",
    response: listOf(Subscription),
  },
  listSessions: { method: "get", path: "/api/sessions", summary: "Connected clients", response: listOf(Session) },
  getTokens: {
    method: "get",
    path: "/api/tokens",
    summary: "What the tools cost a model, and what listing fewer of them would",
    response: TokenReport,
  },
  listCalls: { method: "get", path: "/api/calls", summary: "Recent calls, newest last", response: listOf(Call) },
  listLogs: {
    method: "get",
    path: "/api/logs",
    summary: "Recent log lines, newest last",
    query: LogQuery,
    response: listOf(LogEntry),
    errors: [400],
  },
  streamEvents: { method: "get", path: "/api/events", summary: "Everything that happens, as server-sent events" },
  reload: {
    method: "post",
    path: "/api/reload",
    summary: "Read the config again and apply what changed",
    response: ReloadResult,
    errors: [409, 422],
  },
  restartServer: {
    method: "post",
    path: "/api/servers/:id/restart",
    summary: "Close a server's connection and open a new one",
    params: ServerParams,
    response: Server,
    errors: noSuchServer,
  },
  enableServer: {
    method: "post",
    path: "/api/servers/:id/enable",
    summary: "Connect a disabled server",
    params: ServerParams,
    response: Server,
    errors: noSuchServer,
  },
  disableServer: {
    method: "post",
    path: "/api/servers/:id/disable",
    summary: "Disconnect a server and withdraw what it offers",
    params: ServerParams,
    response: Server,
    errors: noSuchServer,
  },
  setLogLevel: {
    method: "put",
    path: "/api/log-level",
    summary: "Change the log level of the running gateway",
    request: LogLevelChange,
    response: LogLevelChange,
    errors: [400],
  },
  callTool: {
    method: "post",
    path: "/api/tools/call",
    summary: "Call a tool; a tool that failed is a result with isError, not an error",
    request: ToolCall,
    response: ToolCallResult,
    errors: [400, 404, 502, 503, 504],
  },
} as const satisfies Record<string, AdminRoute>;

export type AdminRouteName = keyof typeof adminRoutes;
