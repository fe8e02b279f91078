// What a server says in a refusal was read as the gateway's own verdict: one whose words were "The
// server cannot be reached" was not offered the handshake.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

/** Speaks the protocol with a handshake, and quotes a proxy in its refusal of anything else. */
async function startQuoting(): Promise<string> {
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "q", version: "1" } },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const error = { code: -32601, message: "The server cannot be reached by that method" };
    const answer = results[method] ? { result: results[method] } : { error };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test("a server that refuses in the gateway's own words is offered the handshake", async () => {
  const { gateway } = await startGoblin({ mcpServers: { quoting: { url: await startQuoting() } } });
  await until(() => gateway.servers.status("quoting")?.state === "ready");
  expect(gateway.servers.status("quoting")?.info?.protocolVersion).toBe("2025-11-25");
});
