// @ts-check
// Raw MCP backends on Streamable HTTP, as many as wanted in one process: the URL's query says what
// a backend is like, so /mcp?tag=b7&tools=50&resources=500&era=legacy&sse=1 is one backend and
// /mcp?tag=b8 is another. Prints its address when it listens, and ends when its parent goes away.

import { createServer } from "node:http";
import { createAnswers, updated } from "./backend-answers.js";

/**
 * @typedef {{ res: import("node:http").ServerResponse, uris: string[] | "all", id?: string | number
 *   }} Stream
 */
/**
 * @typedef {{ answer: ReturnType<typeof createAnswers>["answer"], sse: boolean, streams:
 *   Set<Stream>, sessions: number }} Backend
 */

/** @type {Map<string, Backend>} */
const backends = new Map();

/** @param {string} url */
function backendAt(url) {
  let backend = backends.get(url);
  if (!backend) {
    const query = new URL(url, "http://127.0.0.1").searchParams;
    /** @type {Set<Stream>} */
    const streams = new Set();
    const { answer } = createAnswers(
      {
        era: /** @type {import("./backend-answers.js").Era} */ (query.get("era") ?? "both"),
        tools: Number(query.get("tools") ?? 0),
        resources: Number(query.get("resources") ?? 0),
        tag: query.get("tag") ?? "http",
      },
      (uri) => {
        for (const { res, uris, id } of streams) {
          if (uris === "all" || uris.includes(uri)) res.write(frame(updated(uri, id)));
        }
      },
    );
    backend = { answer, sse: query.has("sse"), streams, sessions: 0 };
    backends.set(url, backend);
  }
  return backend;
}

/** @param {string} message */
const frame = (message) => `event: message\ndata: ${message}\n\n`;

/**
 * @param {Backend} backend
 * @param {import("node:http").ServerResponse} res
 * @param {string[] | "all"} uris
 * @param {string | number} [id]
 */
function openStream({ streams }, res, uris, id) {
  /** @type {Stream} */
  const stream = id === undefined ? { res, uris } : { res, uris, id };
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  res.flushHeaders();
  streams.add(stream);
  res.on("close", () => streams.delete(stream));
}

/** @param {Backend} backend @param {import("node:http").ServerResponse} res @param {any} message */
function reply(backend, res, message) {
  if (message.method === "subscriptions/listen") {
    const asked = message.params.notifications ?? {};
    openStream(backend, res, asked.resourceSubscriptions ?? [], message.id);
    const params = { notifications: asked, _meta: { "io.modelcontextprotocol/subscriptionId": message.id } };
    res.write(frame(JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params })));
    return;
  }
  const pieces = backend.answer(message);
  if (!pieces) {
    if (message.id === undefined) res.writeHead(202).end();
    return;
  }
  if (message.method === "initialize") {
    backend.sessions += 1;
    res.setHeader("mcp-session-id", `session-${backend.sessions}`);
  }
  if (backend.sse) {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.end(frame(pieces.join("")));
    return;
  }
  let length = 0;
  for (const piece of pieces) length += Buffer.byteLength(piece);
  res.writeHead(200, { "content-type": "application/json", "content-length": length });
  for (let index = 0; index < pieces.length - 1; index += 1) res.write(/** @type {Buffer} */ (pieces[index]));
  res.end(pieces[pieces.length - 1]);
}

const server = createServer((req, res) => {
  const backend = backendAt(req.url ?? "/");
  if (req.method === "GET") return openStream(backend, res, "all");
  if (req.method !== "POST") return void res.writeHead(200).end();
  /** @type {Buffer[]} */
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    const [first] = chunks;
    const text = first && chunks.length === 1 ? first.toString() : Buffer.concat(chunks).toString();
    try {
      reply(backend, res, JSON.parse(text));
    } catch (error) {
      if (!res.headersSent) res.writeHead(400);
      res.end(String(error));
    }
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${address.port}/mcp`);
});
process.on("disconnect", () => process.exit(0));
