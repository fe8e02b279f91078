import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../../fixtures/peers.ts";
import { type MetaClient, metaClient } from "./rig.ts";

let client: MetaClient;

const schema = { type: "object", properties: { path: { type: "string", description: "Where" } }, required: ["path"] };
const filesystem = {
  tools: [
    { name: "read_file", description: "Reads a file", inputSchema: schema },
    { name: "quiet", inputSchema: { type: "object" } },
  ],
  prompts: [
    {
      name: "codeReview",
      description: "Reviews code",
      arguments: [{ name: "diff", description: "The change", required: true }, { name: "style" }],
      icons: [{ src: "https://example.com/i.png" }],
    },
    { name: "bare" },
  ],
  resources: [
    { uri: "file:///logs/app.log", name: "app.log", mimeType: "text/plain", size: 12, description: "The log" },
    { uri: "file:///icon.png", name: "icon", mimeType: "image/png" },
  ],
  resourceTemplates: [{ uriTemplate: "mcp://database/{table}/{id}", name: "row", description: "A row" }],
};
const github = {
  tools: [{ name: "create_issue", description: "Opens an issue", inputSchema: { type: "object" } }],
  prompts: [{ name: "prReview", description: "Reviews a pull request" }],
  resources: [],
  resourceTemplates: [],
};

beforeAll(async () => {
  const one = await startScripted({ name: "filesystem", script: { lists: filesystem } });
  const two = await startScripted({ name: "github", script: { lists: github } });
  const { url } = await startGoblin({ mcpServers: { filesystem: one.entry, github: two.entry } });
  client = await metaClient(url);
});
afterAll(disposeAll);

describe("tools", () => {
  test("catalog_tools lists cards, of all servers or of one", async () => {
    expect(await client.ask("catalog_tools")).toEqual({
      tools: [
        { name: "filesystem_quiet", description: "", serverId: "filesystem" },
        { name: "filesystem_read_file", description: "Reads a file", serverId: "filesystem" },
        { name: "github_create_issue", description: "Opens an issue", serverId: "github" },
      ],
    });
    expect(await client.ask("catalog_tools", { serverId: "github" })).toEqual({
      tools: [{ name: "github_create_issue", description: "Opens an issue", serverId: "github" }],
    });
    expect(await client.ask("catalog_tools", { serverId: "nobody" })).toEqual({ tools: [] });
  });

  test("describe_tool returns the whole definition and its server", async () => {
    const expected = {
      name: "filesystem_read_file",
      description: "Reads a file",
      inputSchema: schema,
      serverId: "filesystem",
    };
    expect(await client.ask("describe_tool", { name: "filesystem_read_file" })).toEqual(expected);
    expect(await client.ask("describe_tool", { name: "read_file" })).toEqual(expected);
    expect(await client.ask("describe_tool", { name: "call_tool" })).toMatchObject({
      name: "call_tool",
      serverId: "goblin",
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    });
  });

  test("search_tools finds by meaning and says how many", async () => {
    expect(await client.ask("search_tools", { query: "open an issue" })).toEqual({
      tools: [
        {
          name: "github_create_issue",
          description: "Opens an issue",
          signature: "()",
          serverId: "github",
        },
      ],
      query: "open an issue",
      count: 1,
    });
    expect(await client.ask("search_tools", { query: "file", serverId: "github" })).toEqual({
      tools: [],
      query: "file",
      count: 0,
    });
    expect((await client.ask("search_tools", { query: "", limit: 2 })).count).toBe(2);
  });
});

describe("prompts", () => {
  test("catalog_prompts lists cards with the arguments' names", async () => {
    expect(await client.ask("catalog_prompts")).toEqual({
      prompts: [
        { name: "filesystem_bare", description: "", arguments: [], serverId: "filesystem" },
        {
          name: "filesystem_codeReview",
          description: "Reviews code",
          arguments: ["diff", "style"],
          serverId: "filesystem",
        },
        { name: "github_prReview", description: "Reviews a pull request", arguments: [], serverId: "github" },
      ],
    });
    expect(await client.ask("catalog_prompts", { serverId: "nobody" })).toEqual({ prompts: [] });
  });

  test("describe_prompt returns the whole definition and its server", async () => {
    expect(await client.ask("describe_prompt", { name: "filesystem_codeReview" })).toEqual({
      name: "filesystem_codeReview",
      description: "Reviews code",
      arguments: [{ name: "diff", description: "The change", required: true }, { name: "style" }],
      icons: [{ src: "https://example.com/i.png" }],
      serverId: "filesystem",
    });
    expect(await client.ask("describe_prompt", { name: "filesystem_bare" })).toEqual({
      name: "filesystem_bare",
      description: "",
      arguments: [],
      serverId: "filesystem",
    });
  });

  test("search_prompts finds by keyword and with typos, best first", async () => {
    const review = {
      name: "filesystem_codeReview",
      description: "Reviews code",
      arguments: ["diff", "style"],
      serverId: "filesystem",
    };
    const found = await client.ask("search_prompts", { query: "code review" });
    expect(found).toMatchObject({ query: "code review", count: 2 });
    expect(found.prompts[0]).toEqual(review);
    expect(await client.ask("search_prompts", { query: "codeReviw" })).toMatchObject({
      prompts: expect.arrayContaining([review]),
    });
  });
});

describe("resources", () => {
  const log = {
    uri: "filesystem+file:///logs/app.log",
    name: "app.log",
    mimeType: "text/plain",
    size: 12,
    serverId: "filesystem",
  };
  const icon = {
    uri: "filesystem+file:///icon.png",
    name: "icon",
    mimeType: "image/png",
    serverId: "filesystem",
  };

  test("catalog_resources lists cards, by server and by MIME type", async () => {
    expect(await client.ask("catalog_resources")).toEqual({ resources: [icon, log] });
    expect(await client.ask("catalog_resources", { mimeType: "text/plain" })).toEqual({ resources: [log] });
    expect(await client.ask("catalog_resources", { mimeType: "image/*" })).toEqual({ resources: [icon] });
    expect(await client.ask("catalog_resources", { serverId: "github" })).toEqual({ resources: [] });
  });

  test("describe_resource returns everything, by any form of the URI", async () => {
    const expected = {
      uri: "filesystem+file:///logs/app.log",
      name: "app.log",
      mimeType: "text/plain",
      size: 12,
      description: "The log",
      id: "filesystem_file___logs_app.log",
      originalUri: "file:///logs/app.log",
      serverId: "filesystem",
    };
    for (const uri of [expected.uri, expected.id, expected.originalUri]) {
      expect(await client.ask("describe_resource", { uri })).toEqual(expected);
    }
  });

  test("describe_resource knows templates and what they expand to", async () => {
    const row = {
      name: "row",
      description: "A row",
      uriTemplate: "filesystem+mcp://database/{table}/{id}",
      serverId: "filesystem",
    };
    expect(await client.ask("describe_resource", { uri: "filesystem+mcp://database/users/7" })).toMatchObject({
      ...row,
      uri: "filesystem+mcp://database/users/7",
      originalUri: "mcp://database/users/7",
    });
    expect(await client.ask("describe_resource", { uri: "filesystem+mcp://database/{table}/{id}" })).toMatchObject(row);
  });

  test("search_resources finds cards, also within a MIME type", async () => {
    expect(await client.ask("search_resources", { query: "app.log" })).toEqual({
      resources: [log],
      query: "app.log",
      count: 1,
    });
    expect(await client.ask("search_resources", { query: "file", mimeType: "image/png" })).toEqual({
      resources: [icon],
      query: "file",
      count: 1,
    });
  });

  test("catalog_resource_templates lists patterns", async () => {
    expect(await client.ask("catalog_resource_templates")).toEqual({
      templates: [
        {
          uriTemplate: "filesystem+mcp://database/{table}/{id}",
          name: "row",
          description: "A row",
          serverId: "filesystem",
        },
      ],
    });
    expect(await client.ask("catalog_resource_templates", { serverId: "github" })).toEqual({ templates: [] });
  });
});

describe("servers", () => {
  test("catalog_servers counts what each offers, and what it costs", async () => {
    const { servers, expose, tokens } = await client.ask("catalog_servers");
    expect(servers).toEqual([
      {
        serverId: "filesystem",
        title: "Scripted filesystem",
        version: "1.2.3",
        transport: "stdio",
        state: "ready",
        tools: 2,
        prompts: 2,
        resources: 2,
        templates: 1,
        tokens: expect.any(Number),
        listedTools: 2,
        listedTokens: servers[0].tokens,
      },
      {
        serverId: "github",
        title: "Scripted github",
        version: "1.2.3",
        transport: "stdio",
        state: "ready",
        tools: 1,
        prompts: 1,
        resources: 0,
        templates: 0,
        tokens: expect.any(Number),
        listedTools: 1,
        listedTokens: servers[1].tokens,
      },
    ]);
    expect(servers[1].tokens).toBeGreaterThan(10);
    expect(expose).toBe("all");
    expect(tokens.all).toBe(tokens.search + servers[0].tokens + servers[1].tokens);
    expect(tokens.listed).toBe(tokens.all);
    const { servers: one } = await client.ask("catalog_servers", { serverId: "github" });
    expect(one[0].toolTokens).toEqual([{ name: "github_create_issue", tokens: one[0].tokens }]);
  });

  test("goblin_health reports the gateway and each server, also as health", async () => {
    for (const name of ["goblin_health", "health"]) {
      const report = await client.ask(name);
      expect(report).toEqual({
        status: "ok",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        uptimeMs: expect.any(Number),
        configValid: true,
        servers: ["filesystem", "github"].map((serverId) => ({
          serverId,
          state: "ready",
          sinceMs: expect.any(Number),
          restarts: 0,
          inFlight: 0,
          queued: 0,
          protocolVersion: "2025-11-25",
        })),
      });
    }
  });
});
