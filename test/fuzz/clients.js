// @ts-check
// Clients that do nothing wrong, of each kind the gateway knows: with a session (answers as JSON,
// as event streams, in batches, on one common stream) and without. They say what came back, message
// by message, and leave the judging to others.

import { get } from "node:http";
import { eventsIn, send, TIMEOUT_MS } from "./wire.js";

/** @typedef {import("./judges.js").Seen} Seen */
/** @typedef {{ id: number, name: string, args: string }} Call `args` is JSON text */
/**
 * @typedef {{ kind: string, call(calls: readonly Call[]): Promise<Seen>, close(): Promise<void> }}
 * Client
 */

const JSON_TYPE = { "content-type": "application/json" };
const BOTH = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
const ENVELOPE =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"fuzz","version":"1"}}';

/** @param {Call} call @param {string} [meta] */
export function requestOf({ id, name, args }, meta = "") {
  const params = `{"name":${JSON.stringify(name)},"arguments":${args}${meta && `,${meta}`}}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
}

/** @param {string} version */
const helloOf = (version) =>
  `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}`;

/**
 * The headers of a new session.
 * @param {string} url
 * @param {string} version
 * @returns {Promise<Record<string, string>>}
 */
export async function openSession(url, version) {
  const { origin, pathname } = new URL(url);
  const opened = await send(origin, {
    method: "POST",
    path: pathname,
    headers: BOTH,
    body: Buffer.from(helloOf(version)),
  });
  const session = opened.headers["mcp-session-id"];
  if (typeof session !== "string") throw new Error(`No session: ${opened.status} ${opened.failed ?? opened.text}`);
  return { "mcp-session-id": session, "mcp-protocol-version": version };
}

/** @param {string} url @param {"json" | "events" | "batch"} kind @returns {Promise<Client>} */
async function withSession(url, kind) {
  const { origin, pathname: path } = new URL(url);
  const session = await openSession(url, kind === "batch" ? "2025-03-26" : "2025-11-25");
  const headers = { ...BOTH, ...session, ...(kind === "events" && { accept: "text/event-stream" }) };
  const post = (/** @type {string} */ body) => send(origin, { method: "POST", path, headers, body: Buffer.from(body) });
  return {
    kind,
    async call(calls) {
      if (kind === "batch") return post(`[${calls.map((call) => requestOf(call)).join(",")}]`);
      return together(await Promise.all(calls.map((call) => post(requestOf(call)))));
    },
    close: async () => void (await send(origin, { method: "DELETE", path, headers: session })),
  };
}

/** @param {string} url @returns {Promise<Client>} */
async function withoutSession(url) {
  const { origin, pathname: path } = new URL(url);
  const post = (/** @type {Call} */ call) =>
    send(origin, {
      method: "POST",
      path,
      headers: { ...BOTH, ...statelessHeaders("tools/call", call.name) },
      body: Buffer.from(requestOf(call, ENVELOPE)),
    });
  return {
    kind: "stateless",
    call: async (calls) => together(await Promise.all(calls.map(post))),
    close: async () => {},
  };
}

/** @param {string} method @param {string} name */
export function statelessHeaders(method, name) {
  return { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name };
}

/**
 * All answers come on one stream, as they do over stdio.
 * @param {string} url
 * @returns {Promise<Client>}
 */
async function onOneStream(url) {
  const { origin } = new URL(url);
  let text = "";
  let path = "";
  /** @type {(() => void)[]} */
  const watchers = [];
  const stream = get(`${origin}/sse`, { headers: { accept: "text/event-stream" }, agent: false }, (response) => {
    response.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      path ||= /^event: endpoint\r?\ndata: (\S+)/m.exec(text)?.[1] ?? "";
      for (const watch of watchers) watch();
    });
    response.on("error", () => {});
  });
  stream.on("error", () => {});
  /** @param {() => boolean} fits */
  const until = (fits) =>
    new Promise((resolve) => {
      const late = setTimeout(() => finish(false), TIMEOUT_MS);
      const watch = () => fits() && finish(true);
      /** @param {boolean} found */
      const finish = (found) => {
        clearTimeout(late);
        const at = watchers.indexOf(watch);
        if (at !== -1) watchers.splice(at, 1);
        resolve(found);
      };
      watchers.push(watch);
      watch();
    });
  await until(() => path !== "");
  const post = (/** @type {string} */ body) =>
    send(origin, { method: "POST", path, headers: JSON_TYPE, body: Buffer.from(body) });
  await post(helloOf("2024-11-05"));
  await until(() => eventsIn(text).length === 1);
  return {
    kind: "one stream",
    async call(calls) {
      // Whatever comes from now on, until all are there, has to be theirs.
      text = "";
      await Promise.all(calls.map((call) => post(requestOf(call))));
      const all = await until(() => eventsIn(text).length >= calls.length);
      return { status: 200, text, messages: eventsIn(text), timedOut: !all };
    },
    close: async () => void stream.destroy(),
  };
}

/** @param {readonly Seen[]} seen @returns {Seen} */
function together(seen) {
  const bad = seen.find(({ timedOut, failed, status = 0 }) => timedOut || failed || status >= 500);
  return {
    ...(bad ?? seen[0]),
    text: seen.map(({ text }) => text).join("\n"),
    messages: seen.flatMap(({ messages }) => messages),
  };
}

/** @param {string} url @returns {Promise<Client[]>} */
export function openClients(url) {
  return Promise.all([
    withSession(url, "json"),
    withSession(url, "events"),
    withSession(url, "batch"),
    withoutSession(url),
    onOneStream(url),
  ]);
}
