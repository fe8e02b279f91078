/**
 * Generates the admin API's OpenAPI 3.1 document from the route table and the handlers' zod
 * schemas.
 *
 * Invariant: no shape is written here by hand, so the document cannot disagree with the API.
 */
import * as z from "zod";
import * as access from "./access/schema.ts";
import * as events from "./events.ts";
import * as approvals from "./live/approval-schema.ts";
import * as grants from "./live/grant-schema.ts";
import * as live from "./live/schema.ts";
import * as logins from "./logins/schema.ts";
import { type AdminRoute, plainRoutes, routeTags, takesBody } from "./route.ts";
import { adminRoutes } from "./routes.ts";
import * as schema from "./schema.ts";

type Json = Record<string, unknown>;

const reasons: Record<number, string> = {
  200: "Success",
  400: "The request is invalid",
  401: "A bearer token is needed",
  403: "The host, the origin or the token is not allowed",
  404: "No such server, tool, grant, approval or route",
  409: "There is no config file to read, what the request needs is off, or an approval was answered already",
  413: "The body is larger than limits.bodyBytes",
  415: "The body is not sent as application/json",
  422: "The config is not valid or not trusted; the running config is kept",
  502: "The server answered with an error",
  503: "The server, the state folder or another replica is not available",
  504: "The server did not answer in time",
};

export interface DocumentOptions {
  readonly version: string;
  /** The gateway's URL; default: the default address. */
  readonly url?: string;
}

/** Returns the document. Pure, so that a test can compare it with the shipped file. */
export function openApiDocument({ version, url = "http://127.0.0.1:3000" }: DocumentOptions): Json {
  const names = nameSchemas();
  const paths: Record<string, Json> = {};
  for (const [operationId, route] of Object.entries<AdminRoute>({ ...adminRoutes, ...plainRoutes })) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operation(operationId, route, names) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Goblin admin API",
      version,
      description: "Monitor and control a running gateway.",
      contact: { name: "Goblin contributors" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url, description: "The gateway" }],
    tags: Object.entries(routeTags).map(([name, description]) => ({ name, description })),
    security: [{}, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "One of gateway.admin.tokens, where there are any." },
      },
      schemas: componentSchemas(names),
    },
  };
}

/**
 * Exported schemas become components under their own names, without `Row` or `Schema`; parameters
 * and lists are written in place.
 */
function nameSchemas(): Map<z.ZodType, string> {
  const parameters = new Set<unknown>(Object.values<AdminRoute>(adminRoutes).flatMap((r) => [r.params, r.query]));
  const names = new Map<z.ZodType, string>();
  const wireNames = [schema, live, grants, approvals, access, logins]
    .flatMap((one) => Object.entries(one))
    .map(([name, value]) => [name.replace(/(Row|Schema)$/, ""), value] as const);
  wireNames.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of [...wireNames, ...Object.entries(events)]) {
    if (value instanceof z.ZodType && !parameters.has(value)) names.set(value, name);
  }
  return names;
}

function registryOf(names: Map<z.ZodType, string>) {
  const registry = z.registry<{ id: string }>();
  for (const [type, id] of names) registry.add(type, { id });
  return registry;
}

const refTo = (id: string) => `#/components/schemas/${id}`;

// Uses the input side, which leaves objects open: a client must not break on fields that a later
// version adds.
function componentSchemas(names: Map<z.ZodType, string>): Json {
  const { schemas } = z.toJSONSchema(registryOf(names), { uri: refTo, io: "input" });
  return Object.fromEntries(Object.entries(schemas).map(([id, value]) => [id, withoutIdentity(value)]));
}

function describe(type: z.ZodType, names: Map<z.ZodType, string>): Json {
  const name = names.get(type);
  if (name !== undefined) return { $ref: refTo(name) };
  // A list is the only shape without a name, but its item has one.
  if (type instanceof z.ZodObject && type.shape.items instanceof z.ZodArray) {
    const { properties, ...rest } = withoutIdentity(z.toJSONSchema(type, { io: "input" }));
    const items = { type: "array", items: describe(type.shape.items.element as z.ZodType, names) };
    return { ...rest, properties: { ...(properties as Json), items } };
  }
  return withoutIdentity(z.toJSONSchema(type, { io: "input" }));
}

function withoutIdentity(value: object): Json {
  const { $schema: _schema, $id: _id, "~standard": _standard, ...rest } = value as Json;
  return rest;
}

function operation(operationId: string, route: AdminRoute, names: Map<z.ZodType, string>): Json {
  const parameters = [...parametersOf(route.params, "path"), ...parametersOf(route.query, "query")];
  const failures = failuresOf(route).map((status) => [
    String(status),
    { description: reasons[status], content: jsonContent({ $ref: refTo("ApiError") }) },
  ]);
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    ...(isOpen(route) && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.request && { requestBody: { required: true, content: jsonContent(describe(route.request, names)) } }),
    responses: {
      "200": { description: reasons[200], content: contentOf(route, names) },
      ...(route === plainRoutes.getReady && {
        "503": { description: "Servers are still starting", content: contentOf(route, names) },
      }),
      ...Object.fromEntries(failures),
    },
  };
}

/** Returns whether the route needs no token; Host and Origin are still checked. */
function isOpen(route: AdminRoute): boolean {
  return route === plainRoutes.getHealth || route === plainRoutes.getReady;
}

function failuresOf(route: AdminRoute): number[] {
  const ofGuard = isOpen(route) ? [403] : [401, 403];
  const ofReplicas = route.replicas === "owner" || route.replicas === "all" ? [503] : [];
  const ofBody = takesBody(route) ? [413, 415] : [];
  const all = new Set([...ofGuard, ...ofReplicas, ...ofBody, ...(route.errors ?? [])]);
  return [...all].sort((one, other) => one - other);
}

function contentOf(route: AdminRoute, names: Map<z.ZodType, string>): Json {
  if (route.response) return jsonContent(describe(route.response, names));
  return route.type ? { [route.type]: { schema: { type: "string" } } } : eventContent(route, names);
}

function parametersOf(type: z.ZodObject | undefined, where: "path" | "query"): Json[] {
  if (type === undefined) return [];
  return Object.entries(type.shape).map(([name, value]) => {
    // The input type of a coerced number is "anything", so a parameter is described by its output
    // type.
    const { description, ...shape } = withoutIdentity(z.toJSONSchema(value as z.ZodType));
    return {
      name,
      in: where,
      required: where === "path" || !(value as z.ZodType).safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: shape,
    };
  });
}

const jsonContent = (value: Json): Json => ({ "application/json": { schema: value } });

function eventContent(route: AdminRoute, names: Map<z.ZodType, string>): Json {
  const own = route.events ?? events.adminEvents;
  const kinds = Object.entries(own).map(
    ([event, data], index) => `- \`${event}\`: ${names.get(data) ?? `shape ${index + 1}`}`,
  );
  return {
    "text/event-stream": {
      schema: {
        description: `One JSON value in each event's data, by the event's type:\n${kinds.join("\n")}`,
        oneOf: Object.values(own).map((data) => describe(data, names)),
      },
    },
  };
}
