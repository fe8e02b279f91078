// @ts-check
// The measure of all things here: a plain byte-forwarding proxy, node:http in, an undici pool out,
// bodies buffered. It knows nothing of MCP. What it costs is what any gateway in Node has to cost.
// node bench/proxy.js <target url>

import { createServer } from "node:http";
import { Pool } from "undici";

const target = new URL(process.argv[2] ?? "");
const pool = new Pool(target.origin, { connections: 128 });
const HOP_BY_HOP = new Set(["host", "connection", "keep-alive", "transfer-encoding", "content-length"]);

/** @param {import("node:http").IncomingHttpHeaders} from */
function forwarded(from) {
  /** @type {Record<string, string | string[]>} */
  const headers = {};
  for (const name in from) {
    const value = from[name];
    if (value !== undefined && !HOP_BY_HOP.has(name)) headers[name] = value;
  }
  return headers;
}

/**
 * @param {import("node:http").IncomingMessage} req
 * @param {import("node:http").ServerResponse} res
 * @param {Buffer} body
 */
async function forward(req, res, body) {
  const answer = await pool.request({
    path: target.pathname + target.search,
    method: /** @type {import("undici").Dispatcher.HttpMethod} */ (req.method),
    headers: forwarded(req.headers),
    body,
  });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const headers = forwarded(answer.headers);
  headers["content-length"] = String(bytes.length);
  res.writeHead(answer.statusCode, headers);
  res.end(bytes);
}

const server = createServer((req, res) => {
  /** @type {Buffer[]} */
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    forward(req, res, Buffer.concat(chunks)).catch((error) => {
      if (!res.headersSent) res.writeHead(502);
      res.end(String(error));
    });
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${address.port}/mcp`);
});
process.on("disconnect", () => process.exit(0));
