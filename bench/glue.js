// @ts-check
// How most TypeScript gateways are made: the SDK's server on Streamable HTTP, one for each session,
// whose handlers call the SDK's client. Nothing is tuned and nothing is slowed down: it is the code
// of the SDK's own examples. node bench/glue.js <target url>

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "glue", version: "1.0.0" });
await client.connect(
  // The SDK's own types differ under exactOptionalPropertyTypes.
  /** @type {any} */ (new StreamableHTTPClientTransport(new URL(process.argv[2] ?? ""))),
);

/** @type {Map<string, StreamableHTTPServerTransport>} */
const sessions = new Map();

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new Server({ name: "glue", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, (request) => client.listTools(request.params));
  server.setRequestHandler(CallToolRequestSchema, (request) => client.callTool(request.params));
  await server.connect(/** @type {any} */ (transport)); // as above
  return transport;
}

const http = createServer(async (req, res) => {
  const id = req.headers["mcp-session-id"];
  const transport = typeof id === "string" ? sessions.get(id) : await openSession();
  if (transport) await transport.handleRequest(req, res);
  else res.writeHead(404).end();
});

http.keepAliveTimeout = 60_000;
http.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (http.address());
  console.log(`http://127.0.0.1:${address.port}/mcp`);
});
process.on("disconnect", () => process.exit(0));
