// @ts-check
// The parts of a flood: the gateway as a process with its default settings, a hostile server, and
// raw clients.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/goblin.js", import.meta.url));
const PROBE = new URL("./turn-probe.js", import.meta.url).href;
export const MB = 1024 * 1024;
export const TOOL = { name: "work", inputSchema: { type: "object" } };

/** @typedef {Record<string, any>} Message */
/** @typedef {import("node:http").ServerResponse} Response */
/**
 * @typedef {{ capabilities?: object, instructions?: string, methods?: Record<string, (asked:
 *   Message, response: Response) => unknown>, standing?: (response: Response) => void, deaf?:
 *   (body: string) => boolean }} Hostile
 */

/**
 * Starts a server that answers as told, and otherwise like an honest one.
 * @param {Hostile} options
 */
export async function startServer({ capabilities = { tools: {} }, instructions, methods = {}, standing }) {
  const empty = /** @type {Record<string, string>} */ ({
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
  });
  const server = createServer(async (incoming, response) => {
    incoming.on("error", () => {});
    response.on("error", () => {});
    if (incoming.method === "GET") return standing ? standing(response) : void response.writeHead(405).end();
    if (incoming.method !== "POST") return void response.writeHead(405).end();
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const asked = /** @type {Message} */ (JSON.parse(Buffer.concat(chunks).toString()));
    const { id, method } = asked;
    if (id === undefined || method === undefined) return void response.writeHead(202).end();
    const answer = (/** @type {object} */ body) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    if (method === "server/discover") return answer({ error: { code: -32601, message: "Method not found" } });
    if (method === "initialize") {
      const serverInfo = { name: "hostile", version: "1" };
      return answer({ result: { protocolVersion: "2025-11-25", capabilities, serverInfo, instructions } });
    }
    const known = methods[method];
    const result = known
      ? await known(asked, response)
      : { [empty[method] ?? "content"]: method === "tools/list" ? [TOOL] : [] };
    if (result !== undefined && !response.headersSent) answer({ result });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { entry: { type: "http", url: `http://127.0.0.1:${port}/mcp` }, close };
}

/**
 * Writes a text many times, as fast as it is read.
 * @param {import("node:stream").Writable} to
 * @param {string} text
 * @param {number} times
 */
export async function writeAgain(to, text, times) {
  for (let n = 0; n < times && !to.destroyed; n++) {
    if (!to.write(text)) await roomIn(to);
  }
}

/**
 * Resolves when there is room, or nobody reads any more.
 * @param {import("node:stream").Writable} to
 * @returns {Promise<void>}
 */
function roomIn(to) {
  return new Promise((resolve) => {
    const done = () => {
      to.off("drain", done);
      to.off("close", done);
      resolve();
    };
    to.once("drain", done);
    to.once("close", done);
  });
}

/**
 * Starts `goblin serve` with default settings.
 * @param {Record<string, unknown>} mcpServers
 * @param {Record<string, unknown>} [config]
 */
export async function startGateway(mcpServers, config = {}) {
  const folder = mkdtempSync(join(tmpdir(), "goblin-floods-"));
  const file = join(folder, "goblin.json");
  const turns = join(folder, "turns");
  writeFileSync(file, JSON.stringify({ mcpServers, log: { level: "warn" }, ...config }));
  const child = spawn(process.execPath, [BIN, "serve", "--config", file, "--port", "0"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      ...process.env,
      XDG_STATE_HOME: join(folder, "state"),
      NODE_OPTIONS: `--import ${PROBE}`,
      GOBLIN_TURNS: turns,
    },
  });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  const exited = once(child, "exit");
  while (!/listening on/.test(out) && child.exitCode === null) await pause(50);
  const origin = /http:\/\/[^\s/]+:\d+/.exec(out)?.[0];
  if (origin === undefined) throw new Error(`the gateway does not listen: ${out}`);
  const listening = Date.now();
  while ((await fetch(`${origin}/ready`).catch(() => undefined))?.status !== 200) await pause(50);
  const rss = () => {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  };
  /** The longest turn of its event loop since it listens, in CPU time. */
  const longestTurn = () => {
    if (!existsSync(turns)) return 0;
    const lines = readFileSync(turns, "utf8").trim().split("\n");
    const found = lines.map((line) => line.split(" ").map(Number)).filter(([at = 0]) => at > listening);
    return Math.max(0, ...found.map(([, ms = 0]) => ms));
  };
  const close = async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    origin,
    port: Number(new URL(origin).port),
    rss,
    longestTurn,
    close,
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };
}

/** @typedef {Awaited<ReturnType<typeof startGateway>>} Gateway */

/** A client with a session. @param {Gateway} gateway @param {object} [clientInfo] */
export async function startClient({ origin }, clientInfo = { name: "flood", version: "1" }) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let lastId = 0;
  const send = async (/** @type {string} */ body, /** @type {Record<string, string>} */ more = {}) => {
    const response = await fetch(`${origin}/mcp`, { method: "POST", headers: { ...headers, ...more }, body });
    return { headers: response.headers, text: await response.text() };
  };
  const call = (/** @type {string} */ method, /** @type {object} */ params = {}, id = ++lastId) =>
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const begun = await call("initialize", {
    protocolVersion: "2025-03-26",
    capabilities: { elicitation: {} },
    clientInfo,
  });
  headers["mcp-session-id"] = begun.headers.get("mcp-session-id") ?? "";
  const notify = (/** @type {string} */ method, /** @type {object} */ params = {}) =>
    send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  await notify("notifications/initialized");
  const end = () => fetch(`${origin}/mcp`, { method: "DELETE", headers });
  return { send, call, notify, end, headers };
}

/**
 * Sends a request and reads nothing of its answer.
 * @param {Gateway} gateway
 * @param {Record<string, string>} headers
 * @param {string} body
 */
export function sendWithoutReading({ port }, headers, body) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  const lines = Object.entries({ host: "localhost", "content-length": Buffer.byteLength(body), ...headers });
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  return socket;
}

/**
 * Sends a body that is the same chunks again and again, and waits a while for the answer.
 * @param {Gateway} gateway
 * @param {Record<string, string>} headers
 * @param {{ text: string, times: number }} chunks
 */
export async function sendChunks({ port }, headers, { text, times }) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const lines = Object.entries({ host: "localhost", "transfer-encoding": "chunked", ...headers });
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  const answered = once(socket, "data").catch(() => {});
  await writeAgain(socket, text, times);
  socket.write("0\r\n\r\n");
  await Promise.race([answered, pause(10_000)]);
  socket.destroy();
}

/**
 * Runs the step `count` times, a few at once.
 * @param {number} count
 * @param {(n: number) => Promise<unknown>} step
 * @param {number} [atOnce]
 */
export async function times(count, step, atOnce = 8) {
  let next = 0;
  const work = async () => {
    while (next < count) await step(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** @param {number} ms @returns {Promise<void>} */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Calls a tool thirty times and reads none of the answers.
 *
 * @param {Gateway} gateway @param {Record<string, string>} headers @param {object} params
 */
export async function unread(gateway, headers, params) {
  const sockets = Array.from({ length: 30 }, (_, id) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: id + 100, method: "tools/call", params });
    return sendWithoutReading(gateway, headers, body);
  });
  await pause(8000);
  for (const socket of sockets) socket.destroy();
}
