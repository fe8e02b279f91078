/** Connections over TLS: to whom nothing is sent, whom is waited for, and a whole gateway with a server that it trusts. */
import { writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { cert, key } from "../fixtures/certificate.ts";
import { connectV2 } from "../fixtures/clients.ts";
import { ask, connectTo } from "../fixtures/connections.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

describe("over TLS", () => {
  test("nothing is sent to a server that is not trusted", async () => {
    let got = 0;
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", ({ length }) => {
        got += length;
      });
    });
    server.on("tlsClientError", () => {});
    const { connections } = await connectTo(server, "https://localhost", "localhost");
    expect(await ask(connections)).toMatchObject({
      head: undefined,
      error: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      unreachable: true,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(got).toBe(0);
  });

  test("a server that never shakes hands is given up in time", async () => {
    const sockets: Socket[] = [];
    const { connections } = await connectTo(
      createServer((socket) => void sockets.push(socket.resume())),
      "https://127.0.0.1",
      "127.0.0.1",
      { connectMs: 150 },
    );
    expect(await ask(connections)).toMatchObject({
      error: { message: "no connection within 150 ms", code: "CONNECT_TIMEOUT" },
    });
    await until(() => sockets[0]!.destroyed);
  });

  test("a gateway calls the tools of a server whose certificate it trusts", async () => {
    const tool = { name: "hello", inputSchema: { type: "object" } };
    const big = "x".repeat(300_000);
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      },
      "tools/list": { tools: [tool] },
      "tools/call": { content: [{ type: "text", text: big }] },
    };
    const names = new Set<string | false | null>();
    const resumed: boolean[] = [];
    const server = createHttpsServer({ key, cert }, async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
      const result = results[method ?? ""];
      if (!result) return void response.writeHead(id === undefined ? 202 : 400).end();
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    server.on("secureConnection", (socket: TLSSocket) => {
      names.add(socket.servername);
      resumed.push(socket.isSessionReused());
    });
    // By its address, but asked for by its name: that is the one in the certificate.
    const { origin } = await connectTo(server, "https://127.0.0.2", "127.0.0.2");
    const entry = { type: "http", url: `${origin}/mcp`, headers: { Host: "localhost" } };
    const home = await serveHome({ mcpServers: { safe: entry } });
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const { url } = await startServe(home, { NODE_EXTRA_CA_CERTS: trusted });
    const { client } = await connectV2({ url });
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "safe_hello"));
    const { content } = await client.callTool({ name: "safe_hello", arguments: {} });
    expect(content).toEqual([{ type: "text", text: big }]);
    await Promise.all([1, 2, 3].map(() => client.callTool({ name: "safe_hello", arguments: {} })));
    expect([...names]).toEqual(["localhost"]);
    expect(resumed[0]).toBe(false);
    expect(resumed).toContain(true);
  });
});
