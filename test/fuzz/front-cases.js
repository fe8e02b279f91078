// @ts-check
// What a client may send: JSON-RPC of both kinds of protocol, right and wrong, batches, the API,
// bodies and whole requests with bytes changed.
//
// A case says which ids have to be answered; undefined where that cannot be told. Nothing in it
// names a request of somebody else.

import { requestOf, statelessHeaders } from "./clients.js";
import { broken, jsonText, objectText, stringText } from "./json.js";
import { createRandom } from "./random.js";

/** @typedef {import("./random.js").Random} Random */
/**
 * @typedef {{ newest: Record<string, string>, batches: Record<string, string> }} Sessions the
 * headers of two open sessions
 */
/**
 * @typedef {object} FrontCase
 * @property {string} what
 * @property {import("./wire.js").Sent} [sent]
 * @property {Buffer} [raw] a whole request, instead
 * @property {readonly (string | number)[]} [ids]
 * @property {string} [lossless] what has to come back as it is
 * @property {boolean} [api] it is not MCP
 */

const METHODS = [
  "ping",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "completion/complete",
  "logging/setLevel",
  "resources/subscribe",
  "tasks/get",
  "server/discover",
  "initialize",
  "nothing/here",
  "tasksQ",
  "",
  "__proto__",
  "constructor",
  "notifications/x",
];
const NAMES = [
  "honest_echo",
  "web_echo",
  "honest_hello",
  "call_tool",
  "search_tools",
  "catalog_tools",
  "none",
  "__proto__",
  "",
];
const URIS = ["honest+text:///hello", "text:///hello", "web+item:///7", "http://%zz", "::::", "x".repeat(3000)];
const API = [
  "state",
  "servers",
  "tools",
  "prompts",
  "resources",
  "templates",
  "sessions",
  "calls",
  "logs",
  "events",
  "nothing",
  "servers/honest",
  "servers/%ff",
];
const TYPES = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** @param {Random} random @param {number} index */
function idOf(random, index) {
  return random.pick([index, `case-${index}`, `é😀-${index}`, -index - 1, index + 0.5, `${index}${"x".repeat(200)}`]);
}

/** @param {Random} random */
function paramsOf(random) {
  if (random.chance(0.3)) return objectText(random);
  const members = [
    `"name":${random.chance(0.9) ? JSON.stringify(random.pick(NAMES)) : jsonText(random)}`,
    `"uri":${random.chance(0.9) ? JSON.stringify(random.pick(URIS)) : jsonText(random)}`,
    `"arguments":${random.chance(0.7) ? objectText(random) : jsonText(random)}`,
    `"cursor":${random.chance(0.5) ? stringText(random) : jsonText(random)}`,
    `"level":${random.chance(0.5) ? '"info"' : jsonText(random)}`,
    `"ref":{"type":${random.pick(['"ref/prompt"', '"ref/resource"', "7"])},"name":"honest_hello","uri":"web+item:///{id}"}`,
    `"_meta":${random.chance(0.5) ? `{"progressToken":${jsonText(random)}}` : jsonText(random)}`,
    `"taskId":${stringText(random)}`,
    `"requestState":${stringText(random)}`,
  ];
  return `{${members.filter(() => random.chance(0.4)).join(",")}}`;
}

/**
 * One message, with the id that has to be answered if it is a request.
 * @param {Random} random
 * @param {number} index
 */
function message(random, index) {
  const id = idOf(random, index);
  const method = random.pick(METHODS);
  const params = paramsOf(random);
  switch (random.int(8)) {
    case 0:
      return {
        text: `{"jsonrpc":"2.0","method":${JSON.stringify(`notifications/${method}`)},"params":${params}}`,
        ids: [],
      };
    case 1:
      return { text: `{"jsonrpc":"2.0","id":"never-${index}","result":${jsonText(random)}}`, ids: [] };
    case 2: {
      // Wrong in one place; whether its id can be told depends on which.
      const id2 = random.chance(0.5) ? JSON.stringify(id) : jsonText(random, 1);
      return {
        text: `{"jsonrpc":${random.pick(['"2.0"', '"1.0"', "2"])},"id":${id2},"method":${jsonText(random, 1)},"params":${jsonText(random)}}`,
        ids: undefined,
      };
    }
    default:
      return {
        text: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${params}}`,
        ids: [id],
      };
  }
}

/** @type {Record<string, (random: Random, index: number, sessions: Sessions) => FrontCase>} */
const kinds = {
  message(random, index, { newest }) {
    const { text, ids } = message(random, index);
    return { what: text, sent: post({ ...TYPES, ...newest }, text), ...(ids && { ids }) };
  },
  "message without a session"(random, index) {
    const { text } = message(random, index);
    const session = random.chance(0.5) ? {} : { "mcp-session-id": random.pick(["x", "é".repeat(9), "a".repeat(600)]) };
    return { what: text, sent: post({ ...TYPES, ...ascii(session) }, text) };
  },
  "stateless message"(random, index) {
    const id = idOf(random, index);
    const method = random.pick(METHODS.filter((name) => name !== "initialize"));
    const name = random.pick(NAMES);
    const meta = random.chance(0.8) ? META : { ...META, ...JSON.parse(objectText(random)) };
    const _meta = JSON.stringify(meta);
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":{"name":${JSON.stringify(name)},"uri":"text:///hello","arguments":${objectText(random)},"_meta":${_meta}}}`;
    const about = method === "resources/read" || method === "resources/subscribe" ? "text:///hello" : name;
    const headers = random.chance(0.8) ? statelessHeaders(method, about) : statelessHeaders("tools/call", "other");
    return { what: text, sent: post({ ...TYPES, ...headers }, text), ids: [id] };
  },
  batch(random, index, { batches }) {
    const messages = Array.from({ length: random.int(8) }, (_, n) => message(random, index * 10 + n));
    const text = `[${messages.map((each) => each.text).join(",")}]`;
    const all = messages.every(({ ids }) => ids !== undefined) && messages.length > 0;
    return {
      what: text,
      sent: post({ ...TYPES, ...batches }, text),
      ...(all && { ids: messages.flatMap(({ ids }) => ids ?? []) }),
    };
  },
  echo(random, index, { newest, batches }) {
    // On a pipe a line break ends the message, so between values it becomes a blank.
    const args = `{"fuzz":"${index}","v":${jsonText(random, 4).replace(/[\r\n]/g, " ")},"end":"${index}"}`;
    const name = random.pick(["honest_echo", "web_echo"]);
    const text = requestOf({ id: index, name, args });
    const headers = { ...TYPES, ...(random.chance(0.5) ? newest : batches) };
    return { what: text, sent: post(headers, text), ids: [index], lossless: args };
  },
  "broken body"(random, index, { newest }) {
    const bytes = broken(random, Buffer.from(message(random, index).text));
    return { what: bytes.toString("latin1"), sent: { ...post({ ...TYPES, ...newest }, ""), body: bytes } };
  },
  "odd headers"(random, index, { newest }) {
    const { text } = message(random, index);
    const odd = {
      "content-type": random.pick(["text/plain", "application/json; charset=utf-16", "", "application/json"]),
      accept: random.pick(["", "image/png", "*/*", "text/event-stream", "application/json"]),
      "mcp-protocol-version": random.pick(["2025-11-25", "2026-07-28", "1999-01-01", ""]),
      origin: random.pick(["http://evil.example", "null", "http://127.0.0.1"]),
      "last-event-id": random.pick(["x", "s-1", "-", "9".repeat(50)]),
    };
    const some = Object.fromEntries(Object.entries(odd).filter(() => random.chance(0.4)));
    const method = random.pick(["POST", "POST", "PUT", "PATCH", "OPTIONS", "HEAD"]);
    return {
      what: `${method} ${JSON.stringify(some)} ${text}`,
      sent: { ...post({ ...TYPES, ...newest, ...some }, text), method, stream: true },
    };
  },
  stream(random, _index, { newest }) {
    const path = random.pick(["/mcp", "/sse", "/mcp/", "/messages", "/messages?sessionId=x", "/api/events"]);
    const headers = { accept: "text/event-stream", ...(random.chance(0.7) ? newest : {}) };
    return { what: `GET ${path}`, sent: { method: "GET", path, headers, stream: true }, api: true };
  },
  api(random) {
    const path = `/api/${random.pick(API)}${random.chance(0.3) ? `?limit=${encodeURIComponent(jsonText(random))}` : ""}`;
    if (random.chance(0.7))
      return { what: `GET ${path}`, sent: { method: "GET", path, headers: {}, stream: true }, api: true };
    const bytes = random.chance(0.5)
      ? Buffer.from(objectText(random))
      : broken(random, Buffer.from(objectText(random)));
    const to = random.pick(["/api/tools/call", "/api/nothing", "/api/servers/nobody/restart"]);
    return {
      what: `POST ${to} ${bytes.toString("latin1")}`,
      sent: { method: "POST", path: to, headers: TYPES, body: bytes },
      api: true,
    };
  },
  "raw request"(random, index, { newest }) {
    const { text } = message(random, index);
    const headers = Object.entries({
      host: "127.0.0.1",
      ...TYPES,
      ...newest,
      "content-length": String(Buffer.byteLength(text)),
    });
    const extra = random.pick([
      "",
      "transfer-encoding: chunked\r\n",
      "content-length: 5\r\n",
      "expect: 100-continue\r\n",
      "connection: upgrade\r\nupgrade: websocket\r\n",
      "x\r\n",
    ]);
    const whole = `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}${extra}\r\n${text}`;
    const bytes = random.chance(0.2) ? Buffer.from(whole) : broken(random, Buffer.from(whole));
    return { what: bytes.toString("latin1"), raw: bytes };
  },
};

/**
 * @param {{ seed: number, index: number, sessions: Sessions }} of
 * @returns {FrontCase & { kind: string }}
 */
export function frontCase({ seed, index, sessions }) {
  const random = createRandom(seed, index);
  const kind = random.pick(Object.keys(kinds));
  const make = /** @type {typeof kinds[string]} */ (kinds[kind]);
  return { kind, ...make(random, index, sessions) };
}

/**
 * @param {Record<string, string>} headers
 * @param {string} text
 * @returns {import("./wire.js").Sent}
 */
function post(headers, text) {
  return { method: "POST", path: "/mcp", headers, body: Buffer.from(text) };
}

/** @param {Record<string, string>} headers */
function ascii(headers) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")]),
  );
}
