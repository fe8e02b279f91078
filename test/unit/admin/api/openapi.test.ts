import { describe, expect, it } from "vitest";
import { adminEvents } from "../../../../src/admin/api/events.ts";
import { openApiDocument } from "../../../../src/admin/api/openapi.ts";
import { adminRoutes } from "../../../../src/admin/api/routes.ts";
import { startFakeAdmin } from "../../../tui/fake-admin.ts";

type Json = Record<string, unknown>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly description?: string }[];
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
}

const document = openApiDocument({ version: "1.2.3" });

describe("the OpenAPI document", () => {
  it("has every route, parameters in braces", () => {
    const operations = Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(operations).toEqual([
      "get /api/state",
      "get /api/history",
      "get /api/config",
      "get /api/config/changes",
      "post /api/page",
      "get /api/programs",
      "get /api/servers",
      "get /api/servers/{id}",
      "get /api/tools",
      "get /api/tools/own",
      "get /api/prompts",
      "get /api/resources",
      "get /api/templates",
      "get /api/subscriptions",
      "get /api/sessions",
      "get /api/grants",
      "delete /api/grants/{id}",
      "post /api/pairing/codes",
      "get /api/tokens",
      "post /api/explain",
      "get /api/calls",
      "post /api/calls",
      "get /api/calls/{id}",
      "get /api/calls/{id}/text",
      "get /api/recording",
      "post /api/recording",
      "post /api/recording/stop",
      "post /api/calls/{id}/answer",
      "get /api/resources/updates",
      "get /api/approvals",
      "get /api/approvals/{id}",
      "post /api/approvals/{id}/allow",
      "post /api/approvals/{id}/deny",
      "get /api/approval-grants",
      "delete /api/approval-grants/{id}",
      "get /api/lock",
      "post /api/lock/{id}",
      "delete /api/lock/{id}",
      "post /api/lock/{id}/switch",
      "get /api/access",
      "post /api/access/view",
      "get /api/logins",
      "post /api/servers/{id}/login",
      "post /api/servers/{id}/logout",
      "get /api/logs",
      "get /api/events",
      "post /api/reload",
      "post /api/servers/{id}/restart",
      "post /api/servers/{id}/enable",
      "post /api/servers/{id}/disable",
      "put /api/log-level",
      "post /api/tools/call",
      "get /health",
      "get /ready",
      "get /metrics",
      "get /openapi.json",
    ]);
  });

  it("leaves a linter nothing to say: every operation is described, tagged and can be refused", () => {
    expect(document).toMatchObject({
      info: { description: expect.any(String), contact: { name: expect.any(String) }, license: { identifier: "MIT" } },
      servers: [{ url: "http://127.0.0.1:3000" }],
    });
    const tags = new Map((document.tags as { name: string; description: string }[]).map((tag) => [tag.name, tag]));
    const used = new Set<string>();
    const ids: string[] = [];
    for (const item of Object.values(document.paths as Record<string, Record<string, Operation>>)) {
      for (const operation of Object.values(item)) {
        ids.push(operation.operationId);
        for (const tag of operation.tags) used.add(tag);
        expect(operation).toMatchObject({
          summary: expect.stringMatching(/[^.]$/),
          description: expect.stringMatching(/\.$/),
        });
        expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["200", "403"]));
        for (const parameter of operation.parameters ?? []) expect(parameter.description).toEqual(expect.any(String));
        for (const { description } of Object.values(operation.responses))
          expect(description).toEqual(expect.any(String));
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(used).toEqual(new Set(tags.keys()));
    const refs = new Set(JSON.stringify(document).match(/(?<="#\/components\/schemas\/)[^"]+/g));
    const { schemas } = document.components as { schemas: Json };
    expect(Object.keys(schemas).filter((name) => !refs.has(name))).toEqual([]);
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
      "approvals",
      "lock",
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
    // The dashboard, for which that API is, does not ask for these.
    const { getTokens, getPrograms, getCallText, getRecording, getApproval, listApprovalGrants } = adminRoutes;
    const { getHistory, listOwnTools, getLock, getAccess, listLogins } = adminRoutes;
    const ofCalls = [getCallText, getRecording, getApproval, listApprovalGrants];
    const unasked: unknown[] = [getHistory, getTokens, getPrograms, getLock, getAccess, listLogins, ...ofCalls];
    unasked.push(listOwnTools);
    const ids: Record<string, string> = { "/api/servers/:id": "docs", "/api/calls/:id": "r-1" };
    try {
      for (const route of Object.values(adminRoutes)) {
        if (route.method !== "get" || !("response" in route) || unasked.includes(route)) continue;
        const body: unknown = await (await fetch(admin.url + route.path.replace(":id", ids[route.path] ?? ""))).json();
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
