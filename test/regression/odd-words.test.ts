// Where a server should have written a word it wrote an object whose `toString` is no function. To
// make text of that throws: a notification ended the gateway, the name of a server kept the API
// from answering at all.
import { afterEach, describe, expect, test } from "vitest";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ODD = '{"toString":1}';

/** A server on stdin and stdout that has an odd word wherever it can. */
const server = (era: "sessions" | "stateless") => `
  const odd = ${ODD};
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const info = { name: odd, version: odd, title: odd };
  const schema = { type: "object", properties: { a: { type: odd, "x-mcp-header": odd } } };
  const results = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {}, logging: {} }, serverInfo: info },
    "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {}, logging: {} }, serverInfo: info },
    "tools/list": { resultType: "complete", ttlMs: 0, cacheScope: "public", tools: [{ name: "odd", description: odd, inputSchema: schema }, { name: "fine", inputSchema: { type: "object" } }] },
    "tools/call": { resultType: "complete", content: [{ type: "text", text: "done" }] },
  };
  const known = ${JSON.stringify(era)} === "sessions" ? (method) => method !== "server/discover" : (method) => method !== "initialize";
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "tools/call") {
      send({ method: "notifications/progress", params: { progressToken: odd, progress: odd, message: odd } });
      send({ method: "notifications/message", params: { level: odd, data: odd } });
      send({ method: "notifications/resources/updated", params: { uri: odd } });
      send({ method: "notifications/cancelled", params: { requestId: odd } });
      send({ method: "notifications/tools/list_changed", params: odd });
      send({ id: odd, result: {} });
      send({ id: odd, method: odd });
    }
    const result = known(method) ? results[method] : undefined;
    if (id !== undefined) send(result ? { id, result } : { id, error: { code: -32601, message: method === "ping" ? odd : "no" } });
  });`;

describe.each(["sessions", "stateless"] as const)("a server of the kind with %s whose words are objects", (era) => {
  test("serves, is shown, and hurts nobody", async () => {
    const other = await startScripted({ name: "other", transport: "http", era: "legacy" });
    const odd = { command: process.execPath, args: ["-e", server(era)] };
    const goblin = await startGoblin({ mcpServers: { odd, other: other.entry } });
    const clients = [await connectV1({ url: goblin.url }), await connectV2({ url: goblin.url })];
    for (const { client } of clients) {
      const { content } = await (client as (typeof clients)[0]["client"]).callTool({ name: "odd_fine", arguments: {} });
      expect(content).toEqual([{ type: "text", text: "done" }]);
    }
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const mine = { name: "other_echo", arguments: { text: "x" } };
    expect((await raw.call("tools/call", mine)).message.result.structuredContent).toEqual({ text: "x" });
    expect((await raw.call("logging/setLevel", JSON.parse(`{"level":${ODD}}`))).message.error).toMatchObject({
      code: -32602,
      message: `Unknown log level: ${ODD}`,
    });
    for (const [name, args] of Object.entries({
      search_tools: { query: "odd" },
      catalog_tools: {},
      catalog_servers: {},
    })) {
      expect((await raw.call("tools/call", { name, arguments: args })).message.result.isError ?? false).toBe(false);
    }
    for (const path of ["/api/state", "/api/servers", "/api/tools", "/metrics"]) {
      expect([path, (await fetch(`${goblin.origin}${path}`)).status]).toEqual([path, 200]);
    }
    expect(goblin.gateway.servers.isUsable("odd")).toBe(true);
  });
});
