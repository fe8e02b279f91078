/** Lists as single clients get them, by the name that they give themselves. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const SEARCH = ["call_tool", "describe_tool", "search_tools"];

async function connect(url: string, name: string): Promise<ClientV1> {
  const client = new ClientV1({ name, version: "1.0.0" });
  onDispose(() => client.close());
  await client.connect(new TransportV1(new URL(url)) as never);
  return client;
}

async function toolsOf(url: string, name: string): Promise<string[]> {
  const { tools } = await (await connect(url, name)).listTools();
  return tools.map((tool) => tool.name);
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    name: `t${String(n).padStart(3, "0")}`,
    description: `Does thing number ${n}`,
    inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  }));

const server = async (tools: unknown[]) => (await startScripted({ name: "a", script: { lists: { tools } } })).entry;

describe("with the defaults", () => {
  test("all tools are listed, and no meta tool exists", async () => {
    const { url } = await startGoblin({ mcpServers: { a: await server(numbered(2)) }, metaTools: {} });
    const client = await connect(url, "anybody");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["a_t000", "a_t001"]);
    await expect(client.callTool({ name: "search_tools", arguments: { query: "x" } })).rejects.toThrow(/not found/i);
  });

  test("three meta tools appear where a server's tools are not listed", async () => {
    const a = { ...(await server(numbered(2))), expose: { pinned: ["t001"] } };
    const { url } = await startGoblin({ mcpServers: { a }, metaTools: {} });
    const client = await connect(url, "anybody");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["a_t001", ...SEARCH]);
    expect(tools[0]?._meta).toEqual({ "anthropic/alwaysLoad": true });
    const found = await client.callTool({ name: "search_tools", arguments: { query: "thing number 0" } });
    const cards = (found["structuredContent"] as { tools: unknown[] }).tools;
    expect(cards[0]).toMatchObject({ name: "a_t000", signature: "(id: string)" });
  });
});

describe("auto", () => {
  test("decides by client: caps, a search of its own, and the budget", async () => {
    const { url } = await startGoblin({
      mcpServers: { a: await server(numbered(60)) },
      tools: { expose: "auto" },
      metaTools: {},
    });
    expect(await toolsOf(url, "anybody")).toHaveLength(60);
    expect(await toolsOf(url, "cursor-vscode")).toEqual(SEARCH);
    expect(await toolsOf(url, "windsurf-client")).toHaveLength(60);
    const small = await startGoblin({
      mcpServers: { a: await server(numbered(60)) },
      tools: { expose: "auto", budgetTokens: 500 },
      metaTools: {},
    });
    expect(await toolsOf(small.url, "anybody")).toEqual(SEARCH);
    expect(await toolsOf(small.url, "claude-code")).toHaveLength(60);
  });

  test("a capped client finds and calls the rest, and the config has the last word", async () => {
    const { url, gateway } = await startGoblin({
      mcpServers: { a: await server(numbered(60)) },
      tools: { expose: "auto" },
      metaTools: {},
      clients: { "cursor-*": { pinned: ["a_t007"] }, "other-*": { expose: "search" }, "old-agent": { maxTools: 10 } },
    });
    const client = await connect(url, "cursor-vscode");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["a_t007", ...SEARCH]);
    expect(tools[0]?._meta).toEqual({ "anthropic/alwaysLoad": true });
    const answer = await client.callTool({ name: "call_tool", arguments: { name: "a_t042", arguments: { id: "1" } } });
    expect(JSON.stringify(answer)).toContain("t042");
    expect(JSON.stringify(await client.callTool({ name: "a_t041", arguments: { id: "1" } }))).toContain("t041");
    expect(await toolsOf(url, "other-client")).toEqual(SEARCH);
    expect(await toolsOf(url, "old-agent")).toEqual(SEARCH);
    expect(await toolsOf(url, "anybody")).toHaveLength(60);
    expect(gateway.snapshot().tools.entries).toHaveLength(60);
  });
});

test("a wrong argument's error carries the schema of an unlisted tool, once", async () => {
  const inputSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const a = await server([{ name: "tool_error", description: "Fails", inputSchema }]);
  const { url } = await startGoblin({ mcpServers: { a }, tools: { expose: "search" }, metaTools: {} });
  const client = await connect(url, "anybody");
  const call = (args: Record<string, unknown>) =>
    client.callTool({ name: "call_tool", arguments: { name: "a_tool_error", arguments: args } });
  const texts = async (args: Record<string, unknown>) =>
    ((await call(args))["content"] as { text: string }[]).map(({ text }) => text);
  expect(await texts({ id: "x" })).toHaveLength(1);
  expect((await texts({}))[1]).toBe(`Input schema of a_tool_error: ${JSON.stringify(inputSchema)}`);
  expect(await texts({})).toHaveLength(1);
});
