/** What describes a route of the admin API, and the routes beside the API. */
import type * as z from "zod";
import { HealthState, OpenApi } from "./schema.ts";

/** The groups of routes with their descriptions. */
export const routeTags = {
  gateway: "The gateway as a whole: its state, its config and its events.",
  servers: "The servers behind the gateway.",
  catalog: "The servers' tools, prompts and resources, and calls.",
  clients: "Connected clients and recent calls.",
  approvals: "Calls that wait for a person, answers, and what they allow.",
  logs: "The gateway's log.",
  health: "For load balancers, monitoring and tools.",
} as const;
export type RouteTag = keyof typeof routeTags;

/**
 * `any`: the replica that is asked, as all would answer the same. `owner`: the one replica that has
 * what the request names. `merge`: all, and their answers become one. `all`: every replica acts.
 */
export type ReplicaScope = "any" | "owner" | "merge" | "all";

export interface AdminRoute {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: string;
  readonly tag: RouteTag;
  /** Which replicas answer, where several share a Redis. */
  readonly replicas: ReplicaScope;
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

/** Whether requests have a body. It must be JSON: no page of another origin can send that. */
export function takesBody({ method }: Pick<AdminRoute, "method">): boolean {
  return method === "post" || method === "put";
}

/** Routes beside the API: the document describes them, but they are not part of it. */
export const plainRoutes = {
  getHealth: {
    method: "get",
    path: "/health",
    tag: "health",
    replicas: "any",
    summary: "Whether the gateway is running",
    description: "Needs no token.",
    response: HealthState,
  },
  getReady: {
    method: "get",
    path: "/ready",
    tag: "health",
    replicas: "any",
    summary: "Whether every server has connected or failed once",
    description: "Needs no token. Answers 503 until then.",
    response: HealthState,
  },
  getMetrics: {
    method: "get",
    path: "/metrics",
    tag: "health",
    replicas: "any",
    summary: "Metrics for Prometheus",
    description: "A client's token opens it too.",
    type: "text/plain",
  },
  getOpenApi: {
    method: "get",
    path: "/openapi.json",
    tag: "health",
    replicas: "any",
    summary: "This document",
    description: "Guarded like the API. `servers` holds the address of the request.",
    response: OpenApi,
  },
} as const satisfies Record<string, AdminRoute>;
