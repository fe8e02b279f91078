/**
 * Every example of the documents that asked for this gateway, to the letter: ids, names, shapes,
 * codes. Clients see flat ids here, as those documents do.
 */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { disposeAll, rawHttp, until } from "../../fixtures/peers.ts";
import { asked, type Rig, requestsOf, startListener, startRig } from "./rig.ts";

let rig: Rig;

const prompt = (name: string, ...names: string[]) => ({
  name,
  description: `About ${name}`,
  arguments: names.map((each) => ({ name: each, description: each, required: true })),
});

beforeAll(async () => {
  const filesystem = {
    resources: [
      { uri: "file:///logs/app.log", name: "app.log", description: "The log", mimeType: "text/plain", size: 12 },
      { uri: "file:///path/to/file", name: "file" },
      { uri: "file:///config/app.json", name: "config", mimeType: "application/json" },
    ],
    resourceTemplates: [],
    prompts: [prompt("codeReview", "code")],
  };
  const s3 = {
    resources: [{ uri: "s3://bucket/config/app.json", name: "config" }],
    resourceTemplates: [],
    prompts: [],
  };
  const row = { uriTemplate: "mcp://database/{table}/{id}", name: "row", description: "A row" };
  const postgres = { resources: [], resourceTemplates: [row], prompts: [prompt("schemaSummary")] };
  const tools = [{ name: "myTool", description: "Mine", inputSchema: { type: "object", properties: { a: {} } } }];
  const server1 = { tools, prompts: [prompt("promptName")], resources: [], resourceTemplates: [] };
  const rules = [{ method: "resources/read", name: "mcp://database/users/7", do: "result", result: { contents: [] } }];
  rig = await startRig(
    {
      filesystem: { script: { lists: filesystem } },
      s3: { script: { lists: s3 } },
      postgres: { script: { lists: postgres, rules } },
      github: { script: { lists: { prompts: [prompt("prReview")], resources: [], resourceTemplates: [] } } },
      server1: { script: { lists: server1 } },
    },
    { resources: { uris: "flat" }, limits: { subscriptionsPerClient: 2 } },
  );
});
afterAll(disposeAll);

const ask = (method: string, params: object = {}) => asked(rig.client, method, params);
const meta = async (name: string, args: object = {}) => {
  const { structuredContent, isError, content } = await ask("tools/call", { name, arguments: args });
  return isError ? { isError, text: content[0].text } : structuredContent;
};
const records = async () => (await rawHttp(`${rig.goblin.origin}/api/subscriptions`).send({})).json.items;
const heard = async () => Promise.all(Object.values(rig.servers).map(requestsOf));

describe("resource names", () => {
  test("filesystem_file___logs_app.log is file:///logs/app.log of filesystem", async () => {
    const { resources } = await ask("resources/list");
    expect(resources).toEqual([
      {
        uri: "filesystem_file___config_app.json",
        name: "config",
        mimeType: "application/json",
        _meta: { "goblin/id": "filesystem_file___config_app.json" },
      },
      {
        uri: "filesystem_file___logs_app.log",
        name: "app.log",
        description: "The log",
        mimeType: "text/plain",
        size: 12,
        _meta: { "goblin/id": "filesystem_file___logs_app.log" },
      },
      {
        uri: "filesystem_file___path_to_file",
        name: "file",
        _meta: { "goblin/id": "filesystem_file___path_to_file" },
      },
      {
        uri: "s3_s3___bucket_config_app.json",
        name: "config",
        _meta: { "goblin/id": "s3_s3___bucket_config_app.json" },
      },
    ]);
  });

  test.each([
    ["filesystem_file___logs_app.log", "filesystem", "file:///logs/app.log"],
    ["filesystem_file___path_to_file", "filesystem", "file:///path/to/file"],
    // As the older algorithm wrote it.
    ["filesystem_file_path_to_file", "filesystem", "file:///path/to/file"],
    ["filesystem_file___config_app.json", "filesystem", "file:///config/app.json"],
    ["s3_s3___bucket_config_app.json", "s3", "s3://bucket/config/app.json"],
  ])("reading %s asks %s for %s", async (uri, server, original) => {
    const result = await ask("resources/read", { uri });
    expect(JSON.parse(result.contents[0].text)).toEqual({ server, uri: original, version: 0 });
    const [last] = (await rig.servers[server]!.received("resources/read")).slice(-1);
    expect(last!.message.params).toEqual({ uri: original });
  });

  test("mcp://database/{table}/{id} is listed with its server, and routes", async () => {
    expect(await ask("resources/templates/list")).toEqual({
      resourceTemplates: [
        {
          uriTemplate: "postgres_mcp://database/{table}/{id}",
          name: "row",
          description: "A row",
          _meta: { "goblin/id": "postgres_mcp___database_table_id_" },
        },
      ],
    });
    expect(await ask("resources/read", { uri: "postgres_mcp://database/users/7" })).toEqual({ contents: [] });
    const [last] = (await rig.servers["postgres"]!.received("resources/read")).slice(-1);
    expect(last!.message.params).toEqual({ uri: "mcp://database/users/7" });
  });
});

describe("errors", () => {
  test.each([
    [
      "resources/read",
      { uri: "filesystem_file___none" },
      -32002,
      "RESOURCE_NOT_FOUND",
      "Resource not found: filesystem_file___none",
    ],
    [
      "resources/read",
      { uri: "mcp://database/users" },
      -32002,
      "RESOURCE_NOT_FOUND",
      "Resource not found: mcp://database/users",
    ],
    ["resources/subscribe", { uri: "none:///x" }, -32002, "RESOURCE_NOT_FOUND", "Resource not found: none:///x"],
    ["prompts/get", { name: "filesystem_none" }, -32602, "PROMPT-001", "Prompt not found: filesystem_none"],
    [
      "prompts/get",
      { name: "filesystem_codeReview" },
      -32602,
      "PROMPT-002",
      'Prompt filesystem_codeReview needs "code"',
    ],
    ["tools/call", { name: "unknown_tool", arguments: {} }, -32602, "TOOL_NOT_FOUND", "Tool not found: unknown_tool"],
  ])("%s %j: %i %s", async (method, params, code, symbol, message) => {
    const before = await heard();
    expect(await ask(method, params)).toMatchObject({ code, message, data: { code: symbol } });
    expect(await heard()).toEqual(before);
  });

  test("LimitExceeded", async () => {
    const { client } = await startListener(rig.goblin);
    const uris = ["filesystem_file___logs_app.log", "filesystem_file___path_to_file", "s3_s3___bucket_config_app.json"];
    const answers = [];
    for (const uri of uris) answers.push(await asked(client, "resources/subscribe", { uri }));
    expect(answers).toMatchObject([{}, {}, { code: -32010, data: { code: "LimitExceeded", limit: 2 } }]);
    expect(answers[0]).toEqual({});
    await client.delete();
    await until(async () => (await records()).length === 0);
  });
});

test("prompts are filesystem_codeReview, github_prReview, postgres_schemaSummary, server1_promptName", async () => {
  const { prompts } = await ask("prompts/list");
  expect(prompts).toEqual([
    { ...prompt("codeReview", "code"), name: "filesystem_codeReview" },
    { ...prompt("prReview"), name: "github_prReview" },
    { ...prompt("schemaSummary"), name: "postgres_schemaSummary" },
    { ...prompt("promptName"), name: "server1_promptName" },
  ]);
  const got = await ask("prompts/get", { name: "filesystem_codeReview", arguments: { code: "1" } });
  expect(JSON.parse(got.messages[0].content.text)).toEqual({ name: "codeReview", args: { code: "1" } });
});

test("server1_myTool is myTool of server1; compact cards, whole definitions", async () => {
  const { structuredContent } = await ask("tools/call", { name: "server1_myTool", arguments: { a: 1 } });
  expect(structuredContent).toEqual({ server: "server1", tool: "myTool", arguments: { a: 1 } });
  const { catalog } = rig.goblin.gateway;
  const mine = catalog.listTools({ compact: true }).filter(({ serverId }) => serverId === "server1");
  expect(mine).toEqual([{ name: "server1_myTool", description: "Mine", serverId: "server1" }]);
  expect(catalog.getTool("server1_myTool")).toEqual({
    name: "server1_myTool",
    description: "Mine",
    inputSchema: { type: "object", properties: { a: {} } },
  });
});

test("meta tools: cards and descriptions in the shapes asked for", async () => {
  const log = { name: "app.log", mimeType: "text/plain", size: 12, serverId: "filesystem" };
  const uri = "filesystem_file___logs_app.log";
  expect(await meta("catalog_resources", { serverId: "filesystem", mimeType: "text/plain" })).toEqual({
    resources: [{ uri, ...log }],
  });
  expect(await meta("describe_resource", { uri })).toMatchObject({ uri, ...log, description: "The log" });
  expect((await meta("search_resources", { query: "log" })).resources).toContainEqual({ uri, ...log });
  expect(await meta("catalog_resource_templates", { serverId: "postgres" })).toEqual({
    templates: [
      { uriTemplate: "postgres_mcp://database/{table}/{id}", name: "row", description: "A row", serverId: "postgres" },
    ],
  });
  const card = {
    name: "filesystem_codeReview",
    description: "About codeReview",
    arguments: ["code"],
    serverId: "filesystem",
  };
  expect(await meta("catalog_prompts", { serverId: "filesystem" })).toEqual({ prompts: [card] });
  expect(await meta("catalog_prompts", { serverId: "s3" })).toEqual({ prompts: [] });
  expect(await meta("search_prompts", { query: "code" })).toEqual({ query: "code", count: 1, prompts: [card] });
  expect(await meta("describe_prompt", { name: "filesystem_codeReview" })).toEqual({
    ...card,
    arguments: [{ name: "code", description: "code", required: true }],
  });
  expect(await meta("goblin_health")).toBeTruthy();
});

test("subscriptions are kept by client, server, URI and time, and end with the client", async () => {
  const { client, updates } = await startListener(rig.goblin);
  const uri = "filesystem_file___logs_app.log";
  expect(await asked(client, "resources/subscribe", { uri })).toEqual({});
  expect(await records()).toEqual([
    { client: expect.any(String), serverId: "filesystem", uri: "file:///logs/app.log", since: expect.any(Number) },
  ]);
  await rig.servers["filesystem"]!.control("touch", { uri: "file:///logs/app.log" });
  await until(() => updates().length > 0);
  expect(updates()).toEqual([uri]);
  const metrics = async () => (await rawHttp(`${rig.goblin.origin}/metrics`).send({})).text;
  expect(await metrics()).toMatch(/^mcpActiveSubscriptions 1$/m);
  await client.delete();
  await rig.servers["filesystem"]!.waitFor((r) => r.event === "unsubscribe" && r["uri"] === "file:///logs/app.log");
  expect(await records()).toEqual([]);
  expect(await metrics()).toMatch(
    /^mcpResourceReadsTotal\{serverId="filesystem",mimeType="text\/plain",status="success"\} \d+$/m,
  );
});

test("GET /sse begins with the endpoint /messages?sessionId={uuid}", async () => {
  const first = await new Promise<string>((resolve, reject) => {
    const sent = request(rig.goblin.sseUrl, (response) => {
      response.setEncoding("utf8").once("data", (text: string) => {
        sent.destroy();
        resolve(text);
      });
    });
    sent.on("error", reject).end();
  });
  expect(first).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n\n/);
});

test("capabilities name tools, prompts and resources", async () => {
  const client = rawHttp(rig.goblin.url);
  expect((await client.initialize()).message.result.capabilities).toMatchObject({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
  });
});
