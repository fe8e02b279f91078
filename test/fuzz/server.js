// @ts-check
// A server for the fuzzers: `node server.js --transport stdio|http|sse --era legacy|modern`.
//
// It is honest in all but its tool `say`, which puts onto the wire what the call's arguments say
// (in base64; $ID in it becomes the id of the request). The tool `echo` gives back its arguments as
// the bytes that came. Over http and sse it prints `listening <url>`.

import { createServer } from "node:http";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { transport: { type: "string", default: "stdio" }, era: { type: "string", default: "legacy" } },
});
const isModern = values.era === "modern";
const schema = { type: "object" };
const tools = ["echo", "say"].map((name) => ({ name, description: name, inputSchema: schema }));
const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };

/** The arguments of an echo as they were written: they begin and end with a mark. */
const MARKED = /\{"fuzz":"(\d+)".*"end":"\1"\}/s;

/** @type {Record<string, (params: any) => object>} */
const methods = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities,
    serverInfo: { name: "fuzz", version: "1" },
  }),
  "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({ tools }),
  "prompts/list": () => ({ prompts: [{ name: "hello", arguments: [{ name: "who" }] }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "hello" } }] }),
  "resources/list": () => ({ resources: [{ uri: "text:///hello", name: "hello" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "item:///{id}", name: "item" }] }),
  "resources/read": (params) => ({ contents: [{ uri: params.uri, text: "hello" }] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values: ["a"] } }),
};

delete methods[isModern ? "initialize" : "server/discover"];

/** @typedef {{ how: string, say: string, close?: boolean }} Said */
/**
 * @typedef {{ answer(text: string): void, say(said: Said, bytes: Buffer): void, accept(): void }}
 * Way
 */

/** @param {string} text @param {Way} way */
function receive(text, way) {
  const message = JSON.parse(text);
  if (message.id === undefined || message.method === undefined) return way.accept();
  const { id, method, params = {} } = message;
  const answer = (/** @type {string} */ body) => way.answer(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${body}}`);
  const done = (/** @type {string} */ result) => answer(`"result":${isModern ? typed(result) : result}`);
  if (method === "tools/call" && params.name === "say") {
    const said = Buffer.from(params.arguments.say, "base64")
      .toString("latin1")
      .replaceAll("$ID", String(id))
      .replaceAll("$PID####", String(id).padEnd(8));
    return way.say(params.arguments, Buffer.from(said, "latin1"));
  }
  if (method === "tools/call") {
    const given = MARKED.exec(text)?.[0] ?? "null";
    return void setTimeout(
      () => done(`{"content":[],"structuredContent":{"arguments":${given}}}`),
      Number(params.arguments?.waitMs ?? 0),
    );
  }
  const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (handle) done(JSON.stringify(handle(params)));
  else answer('"error":{"code":-32601,"message":"Method not found"}');
}

/** @param {string} result */
function typed(result) {
  return result === "{}" ? '{"resultType":"complete"}' : `{"resultType":"complete",${result.slice(1)}`;
}

function serveStdio() {
  const way = {
    answer: (/** @type {string} */ text) => void process.stdout.write(`${text}\n`),
    say: (/** @type {Said} */ { how }, /** @type {Buffer} */ bytes) => {
      process.stdout.write(how === "raw" ? bytes : Buffer.concat([bytes, Buffer.from("\n")]));
    },
    accept: () => {},
  };
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (chunk) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") receive(line, way);
  });
  process.stdin.on("end", () => process.exit(0));
}

/** @param {import("node:http").IncomingMessage} req @returns {Promise<string>} */
async function bodyOf(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function serveHttp() {
  listen("/mcp", async (req, res) => {
    if (req.method !== "POST") return void res.writeHead(405).end();
    receive(await bodyOf(req), {
      answer: (text) => void res.writeHead(200, { "content-type": "application/json" }).end(text),
      accept: () => void res.writeHead(202).end(),
      say({ how, close }, bytes) {
        if (how === "raw") {
          req.socket.write(bytes);
          if (close) req.socket.end();
          return;
        }
        res.writeHead(200, { "content-type": how === "events" ? "text/event-stream" : "application/json" });
        res.end(bytes);
      },
    });
  });
}

function serveSse() {
  /** @type {import("node:http").ServerResponse | undefined} */
  let stream;
  const event = (/** @type {string | Buffer} */ data) =>
    stream?.write(Buffer.concat([Buffer.from("event: message\ndata: "), Buffer.from(data), Buffer.from("\n\n")]));
  listen("/sse", async (req, res) => {
    if (req.method === "GET") {
      stream = res;
      res.writeHead(200, { "content-type": "text/event-stream" });
      return void res.write("event: endpoint\ndata: /messages\n\n");
    }
    const text = await bodyOf(req);
    res.writeHead(202).end();
    receive(text, {
      answer: (answer) => void event(answer),
      accept: () => {},
      say({ how, close }, bytes) {
        if (how === "raw") stream?.write(bytes);
        else event(bytes);
        if (close) stream?.destroy();
      },
    });
  });
}

/**
 * @param {string} path
 * @param {(req: import("node:http").IncomingMessage, res: import("node:http").ServerResponse) =>
 * Promise<void>} handle
 */
function listen(path, handle) {
  const server = createServer((req, res) => {
    req.socket.on("error", () => {});
    handle(req, res).catch(() => req.socket.destroy());
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`listening http://127.0.0.1:${port}${path}`);
  });
  process.stdin.resume().on("end", () => process.exit(0));
}

({ stdio: serveStdio, http: serveHttp, sse: serveSse })[/** @type {"stdio" | "http" | "sse"} */ (values.transport)]();
