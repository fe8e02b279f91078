// @ts-check
// What a server of the soak can be asked, in either era. A method that an era does not have is
// missing from its table.

import { stamped } from "./connection.js";
import { runTool, TOOLS } from "./tools.js";

const META = "io.modelcontextprotocol/";
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const TEMPLATE = { uriTemplate: "note:///{owner}/{n}", name: "note" };

/** @typedef {import("./main.js").World} World */
/** @typedef {Record<string, (call: any) => any>} Methods */

/** @param {World} world */
const hasTasks = (world) => world.wire === "http" && !world.modern;

/** @param {World} world */
function capabilities(world) {
  return {
    tools: { listChanged: true },
    resources: { subscribe: true },
    logging: {},
    ...(hasTasks(world) && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  };
}

/** @type {Methods} */
const shared = {
  "tools/list": ({ world }) => ({ tools: TOOLS.filter(({ name }) => name !== "job" || hasTasks(world)) }),
  "resources/list": () => ({ resources: [] }),
  "resources/templates/list": () => ({ resourceTemplates: [TEMPLATE] }),
  "tools/call": (call) => runTool(call),
  "resources/read": ({ world, params: { uri } }) => ({
    contents: [{ uri, mimeType: "text/plain", text: String(world.version(uri)) }],
  }),
};

/** @type {Methods} */
const legacy = {
  ...shared,
  initialize({ world, connection, params }) {
    connection.initialized = true;
    connection.capabilities = params.capabilities ?? {};
    const protocolVersion = world.wire === "sse" ? "2024-11-05" : params.protocolVersion;
    return {
      protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
      capabilities: capabilities(world),
      serverInfo: { name: world.name, version: "1.0.0" },
    };
  },
  ping: () => ({}),
  "logging/setLevel": ({ connection, params }) => {
    connection.level = params.level;
    return {};
  },
  "resources/subscribe": ({ connection, params }) => {
    connection.subscribed.add(params.uri);
    return {};
  },
  "resources/unsubscribe": ({ connection, params }) => {
    connection.subscribed.delete(params.uri);
    return {};
  },
  "tasks/get": (call) => taskOf(call),
  "tasks/list": ({ world }) => ({ tasks: [...world.tasks.keys()].map((id) => shown(world, id)) }),
  "tasks/result"(call) {
    const { nonce, done } = call.world.tasks.get(taskOf(call).taskId) ?? {};
    if (!done) throw { code: -32602, message: "The task is not done" };
    return { content: [], structuredContent: { nonce, server: call.world.name } };
  },
};

/** @type {Methods} */
const modern = {
  ...shared,
  "server/discover": ({ world }) => ({ supportedVersions: ["2026-07-28"], capabilities: capabilities(world) }),
  "subscriptions/listen"({ connection, channel, id, params, send }) {
    const { resourceSubscriptions = [], toolsListChanged = false } = params.notifications ?? {};
    const listen = { id, uris: resourceSubscriptions, lists: toolsListChanged, channel };
    connection.listens.add(listen);
    channel.onClose?.(() => connection.listens.delete(listen));
    const notifications = { resourceSubscriptions, ...(toolsListChanged && { toolsListChanged }) };
    send(stamped({ method: "notifications/subscriptions/acknowledged", params: { notifications } }, id));
    return undefined;
  },
};
for (const [method, run] of Object.entries(modern)) {
  modern[method] = async (call) => {
    const result = await run(call);
    if (result === undefined) return result;
    const hints = /list$|read$|discover$/.test(method) ? { ttlMs: 0, cacheScope: "private" } : {};
    const _meta = { [`${META}serverInfo`]: { name: call.world.name, version: "1.0.0" } };
    return { resultType: "complete", ...hints, ...result, _meta };
  };
}

/** @param {World} world */
export function methods(world) {
  return world.modern ? modern : legacy;
}

/** @param {any} call */
function taskOf({ world, params }) {
  if (!world.tasks.has(params.taskId)) throw { code: -32602, message: `Task not found: ${params.taskId}` };
  return shown(world, params.taskId);
}

/** @param {World} world @param {string} taskId */
export function shown(world, taskId) {
  const { nonce = "", done = false, at = "" } = world.tasks.get(taskId) ?? {};
  const status = done ? "completed" : "working";
  return { taskId, status, statusMessage: nonce, createdAt: at, lastUpdatedAt: at, ttl: 60_000, pollInterval: 50 };
}
