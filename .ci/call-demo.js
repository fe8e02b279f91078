// A real client against the gateway that `npm start` runs: waits for the demo's tools, calls one,
// and says what came.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.argv[2] ?? "");
const client = new Client({ name: "ci", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(url));
const until = Date.now() + 30_000;
let names = [];
while (!names.includes("clock_now") && Date.now() < until) {
  names = (await client.listTools()).tools.map((tool) => tool.name);
  if (!names.includes("clock_now")) await new Promise((resolve) => setTimeout(resolve, 200));
}
const result = await client.callTool({ name: "clock_now", arguments: {} });
if (result.isError || !Array.isArray(result.content) || result.content.length === 0)
  throw new Error(JSON.stringify(result));
console.log(`npm start answered a client: ${names.length} tools, clock_now says ${JSON.stringify(result.content[0])}`);
await client.close();
