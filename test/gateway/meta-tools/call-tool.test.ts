import { afterEach, expect, test } from "vitest";
import type { MetaContext } from "../../../src/core/meta/define.ts";
import { LocalTools, metaDefinitions } from "../../../src/core/meta/registry.ts";
import { Call, type Client } from "../../../src/mcp/protocol/call.ts";
import type { Answer } from "../../../src/mcp/protocol/json-rpc.ts";
import type { Snapshot } from "../../../src/upstream/catalog/snapshot.ts";
import type { Health } from "../../../src/upstream/servers/health.ts";
import type { Waiting } from "../../../src/upstream/servers/waiting.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { connectV1, connectV2, disposeAll, startScripted } from "../../fixtures/peers.ts";
import { metaClient } from "./rig.ts";

afterEach(disposeAll);

const lossless =
  '{"content":[{"type":"hologram","depth":3,"x":[1.0,-0,12345678901234567890]},{"type":"text","text":"é\\u00e9"}],' +
  '"structuredContent":{"big":98765432109876543210,"e":1e400},"x-result":{"a":1,"a":2}}';

test("the answer is the very text that a direct call gets", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const { raw } = await metaClient(url);
  const post = (params: string) =>
    raw.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`).then(({ text }) => text);
  const given = `{"text":${JSON.stringify(lossless)}}`;
  const direct = await post(`{"name":"lab_raw","arguments":${given}}`);
  const through = await post(`{"name":"call_tool","arguments":{"name":"lab_raw","arguments":${given}}}`);
  expect(direct).toBe(`{"jsonrpc":"2.0","id":7,"result":${lossless}}`);
  expect(through).toBe(direct);
});

test("the inner call has the arguments as the client wrote them, and everything else of the request", async () => {
  const inner = async (text: string) => {
    const calls: Call[] = [];
    const call = new Call({
      method: "tools/call",
      params: JSON.parse(text),
      text,
      client: { key: "k" } as Client,
      emit: () => {},
    });
    const local = metaDefinitions(["call_tool", "catalog_tools"]);
    const catalog = { view: () => ({ local }) as unknown as Snapshot };
    const servers = { arrivals: { firstLists: () => undefined } };
    const results = {} as MetaContext["results"];
    const found = { waiting: {} as Waiting, search: { find: async () => [] }, health: {} as Health };
    const parts = { catalog, servers, results, ...found, mask: (json: string) => json };
    const localTools = new LocalTools(parts);
    const relay = {
      handle: async (derived: Call): Promise<Answer> => {
        calls.push(derived);
        return { ok: true, raw: "{}" };
      },
    };
    await localTools.find(call)?.(call, relay);
    return calls[0];
  };
  const args = '{ "n" : 12345678901234567890, "z": -0, "a":1,"a":2 }';
  const full = await inner(
    `{"_meta":{"progressToken":5},"arguments":{"arguments":${args},"name":"catalog_tools"},"requestState":"s","name":"call_tool"}`,
  );
  expect(full?.text).toBe(
    `{"_meta":{"progressToken":5},"arguments":${args},"requestState":"s","name":"catalog_tools"}`,
  );
  expect(full?.params).toMatchObject({ name: "catalog_tools", requestState: "s", arguments: { a: 2 } });
  expect(full?.progressToken).toBe(5);
  const bare = await inner('{"name":"call_tool","arguments":{"name":"catalog_tools"}}');
  expect(bare?.text).toBe('{"name":"catalog_tools"}');
  expect(bare?.params).toEqual({ name: "catalog_tools" });
});

test("big integers arrive undamaged", async () => {
  const server = await startScripted({ name: "lab", transport: "http" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const { raw } = await metaClient(url);
  const result = '{"content":[],"n":12345678901234567890}';
  const { text } = await raw.post(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"lab_raw","arguments":{"text":${JSON.stringify(result)}}}}}`,
  );
  expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
});

test("a failed tool stays a result, a server's error stays its error", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const client = await metaClient(url);
  const failed = await client.call("call_tool", { name: "lab_tool_error", arguments: { text: "no" } });
  expect(failed.result).toEqual({ content: [{ type: "text", text: "no" }], isError: true, "x-result": 1 });
  const refused = await client.call("call_tool", { name: "lab_fail", arguments: { code: -31999, message: "nope" } });
  expect(refused.error).toEqual({ code: -31999, message: "nope", data: { serverId: "lab" } });
});

test("progress streams to the caller under its own token", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const { client } = await connectV1({ url });
  const steps: number[] = [];
  const result = await client.callTool(
    { name: "call_tool", arguments: { name: "lab_progress", arguments: { steps: 3 } } },
    undefined,
    { onprogress: ({ progress }) => steps.push(progress) },
  );
  expect(steps).toEqual([1, 2, 3]);
  expect(result.content).toEqual([{ type: "text", text: "progressed 3" }]);
});

test("cancelling it cancels the call at the server", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
  const { client } = await connectV1({ url });
  const abort = new AbortController();
  const call = client.callTool(
    { name: "call_tool", arguments: { name: "lab_sleep", arguments: { ms: 20_000 } } },
    undefined,
    { signal: abort.signal },
  );
  await server.waitFor((record) => record.dir === "in" && record.message?.method === "tools/call");
  abort.abort();
  await expect(call).rejects.toThrow();
  await server.waitFor((record) => record.message?.method === "notifications/cancelled");
});

test.each(["legacy", "modern"] as const)(
  "a server's question reaches the %s client that called through it",
  async (era) => {
    const server = await startScripted({ name: "lab" });
    const { url } = await startGoblin({ mcpServers: { lab: server.entry } });
    const elicitation = () => ({ action: "accept", content: { ok: true } });
    const { client } = await connectV2({ url, era, elicitation });
    const result = await client.callTool({
      name: "call_tool",
      arguments: { name: "lab_ask", arguments: { kind: "elicitation" } },
    });
    expect(JSON.stringify(result.content)).toContain("accept");
  },
);

test("the time limit of the tool applies", async () => {
  const server = await startScripted({ name: "lab" });
  const tools = { overrides: { sleep: { timeoutMs: 100 } } };
  const { url } = await startGoblin({ mcpServers: { lab: { ...server.entry, tools } } });
  const client = await metaClient(url);
  const { error } = await client.call("call_tool", { name: "lab_sleep", arguments: { ms: 20_000 } });
  expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "lab" } });
});

test("meta tools can be called through it, tools that are denied cannot", async () => {
  const server = await startScripted({ name: "lab" });
  const { url } = await startGoblin({ mcpServers: { lab: { ...server.entry, tools: { deny: ["echo"] } } } });
  const client = await metaClient(url);
  const { result } = await client.call("call_tool", {
    name: "search_tools",
    arguments: { query: "adds two numbers", limit: 1 },
  });
  expect(result.structuredContent.tools[0].name).toBe("lab_add");
  const { error } = await client.call("call_tool", { name: "lab_echo", arguments: {} });
  expect(error.data.code).toBe("TOOL_NOT_FOUND");
});
