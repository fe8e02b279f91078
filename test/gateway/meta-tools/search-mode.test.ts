import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, startScripted } from "../../fixtures/peers.ts";
import { metaClient } from "./rig.ts";

afterEach(disposeAll);

/** Five hundred tools on five servers; one of them converts temperatures. */
async function fiveServers() {
  const nouns = ["invoice", "branch", "pod", "playlist", "shipment"];
  const servers = nouns.map((noun, at) => {
    const tools = Array.from({ length: 100 }, (_, n) => ({
      name: `${noun}_${n}`,
      description: `Does step ${n} of working with one ${noun}, as the manual says. Needs the right to change it.`,
      inputSchema: {
        type: "object",
        properties: {
          id: { type: "string", description: `The id of the ${noun}` },
          note: { type: "string", description: "A remark for the log" },
        },
        required: ["id"],
      },
    }));
    if (at === 3) {
      tools[42] = {
        name: "convert_temperature",
        description: "Converts degrees Celsius to Fahrenheit.",
        inputSchema: {
          type: "object",
          properties: {
            id: { type: "string", description: "unused" },
            note: { type: "string", description: "unused" },
          },
          required: [],
        },
      };
    }
    return startScripted({ name: `s${at}`, script: { lists: { tools } } });
  });
  const started = await Promise.all(servers);
  return Object.fromEntries(started.map((server) => [server.name, server.entry]));
}

test("from question to answer with 500 tools behind a list of thirteen", async () => {
  const mcpServers = await fiveServers();
  const searching = await startGoblin({ mcpServers, tools: { expose: "search" } });
  const clients = [
    await connectV1({ url: searching.url }),
    await connectV2({ url: searching.url }),
    await connectV2({ url: searching.url, era: "modern" }),
  ];
  for (const { client } of clients) {
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(13);
    const found = await client.callTool({
      name: "search_tools",
      arguments: { query: "how warm is 20 degrees celsius in fahrenheit?" },
    });
    const [best] = (found["structuredContent"] as { tools: { name: string }[] }).tools;
    expect(best).toEqual({
      name: "s3_convert_temperature",
      description: "Converts degrees Celsius to Fahrenheit.",
      signature: expect.stringMatching(/^\(.*id\?: string/),
      serverId: "s3",
    });
    const described = await client.callTool({ name: "describe_tool", arguments: { name: best?.name } });
    expect(described["structuredContent"]).toMatchObject({ inputSchema: { type: "object", required: [] } });
    const answer = await client.callTool({
      name: "call_tool",
      arguments: { name: best?.name, arguments: { id: "20" } },
    });
    expect(JSON.stringify(answer["content"])).toContain("convert_temperature");
  }

  const everything = await startGoblin({ mcpServers, tools: { expose: "all" } });
  const bytes = async (url: string) => (await (await metaClient(url)).raw.call("tools/list", {})).text.length;
  const [search, all] = [await bytes(searching.url), await bytes(everything.url)];
  console.log(`tools/list with 500 tools: "all" ${all} bytes, "search" ${search} bytes`);
  expect(all).toBeGreaterThan(150_000);
  expect(search).toBeLessThan(12_000);
});

test("every meta tool's result fits the schema that is listed for it", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const { client } = await connectV1({ url });
  const { tools } = await client.listTools();
  const args: Record<string, Record<string, unknown>> = {
    describe_tool: { name: "lab_echo" },
    search_tools: { query: "echo" },
    describe_prompt: { name: "lab_greet" },
    search_prompts: { query: "greet" },
    describe_resource: { uri: "lab+text:///hello" },
    search_resources: { query: "hello" },
  };
  const own = tools.filter(({ name }) => !name.startsWith("lab_"));
  expect(own).toHaveLength(13);
  for (const { name, title, description, outputSchema, annotations } of own) {
    expect(title && description).toBeTruthy();
    expect(annotations?.readOnlyHint).toBe(name !== "call_tool");
    if (name === "call_tool") continue;
    // The three that a list of few tools has do without, because every model reads them.
    const isShort = name === "search_tools" || name === "describe_tool";
    if (!isShort) expect(outputSchema).toMatchObject({ type: "object" });
    // The SDK's client checks the result against the output schema and throws.
    const result = await client.callTool({ name, arguments: args[name] ?? {} });
    expect(result["structuredContent"]).toBeTypeOf("object");
  }
});
