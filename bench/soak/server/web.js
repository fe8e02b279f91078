// @ts-check
// What both HTTP wires need: a server whose address the hub is told, bodies, events, plain answers.

import { createServer } from "node:http";

/** @typedef {import("node:http").IncomingMessage} Incoming */
/** @typedef {import("node:http").ServerResponse} Outgoing */

/**
 * @param {import("./main.js").World} world
 * @param {(message: object) => void} tell
 * @param {(req: Incoming, res: Outgoing, url: URL) => Promise<unknown> | unknown} handle
 */
export function listen(world, tell, handle) {
  const server = createServer((req, res) => {
    res.on("error", () => {});
    void Promise.resolve(handle(req, res, new URL(req.url ?? "/", "http://localhost"))).catch(() => res.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(world.port, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    tell({ listening: port });
  });
  server.on("error", () => process.exit(1));
}

/** @param {Incoming} req */
export async function bodyOf(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** @param {Outgoing} res @param {number} status */
export function plain(res, status) {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status);
  res.end();
}

/** @param {Outgoing} res */
export function openStream(res) {
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  res.flushHeaders();
}

/** @param {string} data */
export function eventOf(data) {
  return `event: message\ndata: ${data}\n\n`;
}
