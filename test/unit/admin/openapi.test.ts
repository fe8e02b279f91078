import { describe, expect, it } from "vitest";
import { adminEvents } from "../../../src/admin/events.ts";
import { openApiDocument } from "../../../src/admin/openapi.ts";
import { adminRoutes } from "../../../src/admin/routes.ts";
import { startFakeAdmin } from "../../tui/fake-admin.ts";

type Json = Record<string, unknown>;

const document = openApiDocument({ version: "1.2.3" });

describe("the OpenAPI document", () => {
  it("has every route, parameters in braces", () => {
    const operations = Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(operations).toEqual([
      "get /api/state",
      "get /api/servers",
      "get /api/tools",
      "get /api/prompts",
      "get /api/resources",
      "get /api/templates",
      "get /api/subscriptions",
      "get /api/sessions",
      "get /api/tokens",
      "get /api/calls",
      "get /api/logs",
      "get /api/events",
      "post /api/reload",
      "post /api/servers/{id}/restart",
      "post /api/servers/{id}/enable",
      "post /api/servers/{id}/disable",
      "put /api/log-level",
      "post /api/tools/call",
    ]);
  });

  it("refers only to what it defines, and every event is there", () => {
    const text = JSON.stringify(document);
    const { schemas } = document.components as { schemas: Json };
    const refs = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? "");
    expect(refs.length).toBeGreaterThan(20);
    for (const name of refs) expect(Object.keys(schemas)).toContain(name);
    expect(Object.keys(adminEvents)).toEqual([
      "state",
      "server",
      "catalog",
      "call",
      "log",
      "subscriptions",
      "sessions",
      "config",
    ]);
    expect(text).not.toContain('additionalProperties":false');
    expect(schemas.ApiError).toEqual({
      type: "object",
      properties: {
        error: {
          type: "object",
          properties: { code: { type: "string" }, message: { type: "string" } },
          required: ["code", "message"],
        },
      },
      required: ["error"],
    });
  });

  it("describes query parameters by what they become", () => {
    const paths = document.paths as Record<string, Record<string, { parameters: Json[] }>>;
    const parameters = paths["/api/logs"]?.get?.parameters ?? [];
    expect(parameters.map(({ name, required }) => [name, required])).toEqual([
      ["level", false],
      ["server", false],
      ["limit", false],
    ]);
    expect(parameters[2]?.schema).toEqual({ type: "integer", minimum: 1, maximum: 10_000 });
  });
});

describe("the schemas", () => {
  it("accept what the tests' admin API answers, to the last field", async () => {
    const admin = await startFakeAdmin({ pulseMs: 0 });
    try {
      for (const route of Object.values(adminRoutes)) {
        // The dashboard, for which that API is, does not ask for the report of tokens.
        if (route.method !== "get" || !("response" in route) || route === adminRoutes.getTokens) continue;
        const body: unknown = await (await fetch(admin.url + route.path)).json();
        expect(route.response.parse(body)).toEqual(body);
      }
    } finally {
      await admin.close();
    }
  });

  it("take a limit as text and refuse nonsense", () => {
    const { query } = adminRoutes.listLogs;
    expect(query.parse({ limit: "50", level: "warn" })).toEqual({ limit: 50, level: "warn" });
    expect(query.safeParse({ limit: "0" }).success).toBe(false);
    expect(query.safeParse({ level: "loud" }).success).toBe(false);
  });
});
