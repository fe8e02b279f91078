/**
 * The server that the official conformance suite runs against, directly and behind Goblin. It is
 * written on the SDK and knows nothing of Goblin.
 *
 *   node fixture.js --era legacy|modern [--port n]
 *
 * `legacy` is stateful Streamable HTTP up to 2025-11-25, `modern` is 2026-07-28; both are made from
 * the same tools, prompts and resources. Prints `listening <url>` on stdout, and ends when its
 * stdin does.
 */
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { hostHeaderValidationResponse, originValidationResponse } from "@modelcontextprotocol/server";
import { legacyEndpoint } from "./fixture/legacy.js";
import { modernEndpoint } from "./fixture/modern.js";

const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const endpoints = { legacy: legacyEndpoint, modern: modernEndpoint };

const { values } = parseArgs({ options: { era: { type: "string" }, port: { type: "string", default: "0" } } });
const createEndpoint = endpoints[values.era];
if (!createEndpoint) {
  console.error("usage: fixture.js --era legacy|modern [--port n]");
  process.exit(2);
}

const endpoint = createEndpoint();
const fetch = (request) =>
  hostHeaderValidationResponse(request, LOCAL_NAMES) ??
  originValidationResponse(request, LOCAL_NAMES) ??
  (new URL(request.url).pathname === "/mcp" ? endpoint(request) : new Response("Not found", { status: 404 }));

serve({ fetch, hostname: "127.0.0.1", port: Number(values.port) }, ({ port }) => {
  console.log(`listening http://127.0.0.1:${port}/mcp`);
});
process.stdin.resume().on("end", () => process.exit(0));
