// @ts-check
// The tools of a server of the soak. Each writes its nonce into the book first; all that it says
// carries that nonce.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { shown } from "./methods.js";

const META = "io.modelcontextprotocol/";
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const MAX_TASKS = 50;
const inputSchema = { type: "object", properties: { nonce: { type: "string" } }, required: ["nonce"] };

export const TOOLS = [
  { name: "work", description: "Answers, after a while if told so", inputSchema },
  { name: "steps", description: "Reports progress", inputSchema },
  { name: "tell", description: "Sends log messages", inputSchema },
  { name: "ask", description: "Asks the client", inputSchema },
  { name: "late", description: "Speaks and asks though its call was given up", inputSchema },
  { name: "job", description: "Runs as a task", inputSchema, execution: { taskSupport: "optional" } },
];

/** @type {Record<string, (call: any, args: any) => any>} */
const tools = {
  async work(_call, { ms = 0, bytes = 0 }) {
    if (ms > 0) await sleep(ms);
    return { padding: "x".repeat(bytes) };
  },
  async steps({ params, send }, { nonce, steps }) {
    const progressToken = params._meta?.progressToken;
    for (let progress = 1; progress <= steps; progress++) {
      send({ method: "notifications/progress", params: { progressToken, progress, total: steps, message: nonce } });
      await sleep(2);
    }
    return {};
  },
  tell(call, { nonce, lines }) {
    let sent = 0;
    for (let n = 0; n < lines; n++) sent += Number(log(call, nonce));
    return { sent };
  },
  async ask(call, { nonce, kind }) {
    const { question, reply } = await put(call, kind, nonce);
    return question ?? { reply };
  },
  async late(call, { nonce, ms }) {
    await sleep(ms);
    log(call, nonce);
    if (!call.world.modern) await Promise.race([put(call, "elicitation", nonce), sleep(500)]);
    return {};
  },
  job(call, { nonce }) {
    const { world, connection, params } = call;
    if (params.task === undefined) return {};
    const taskId = randomUUID();
    world.tasks.set(taskId, { nonce, done: false, at: new Date().toISOString() });
    if (world.tasks.size > MAX_TASKS) world.tasks.delete(world.tasks.keys().next().value);
    setTimeout(() => {
      const task = world.tasks.get(taskId);
      if (!task) return;
      task.done = true;
      const note = { jsonrpc: "2.0", method: "notifications/tasks/status", params: shown(world, taskId) };
      connection.push(JSON.stringify(note));
    }, 60);
    return { task: shown(world, taskId) };
  },
};

/** @param {any} call */
export async function runTool(call) {
  const { world, params } = call;
  const { name, arguments: args = {} } = params;
  const tool = tools[name];
  if (!tool) throw { code: -32602, message: `Unknown tool: ${name}` };
  if (params.requestState === undefined) world.book(args.nonce, name);
  const { task, inputRequests, requestState, ...more } = await tool(call, args);
  if (task) return { task };
  if (inputRequests) return { resultType: "input_required", inputRequests, requestState };
  const structuredContent = { nonce: args.nonce, server: world.name, pid: process.pid, ...more };
  return { content: [{ type: "text", text: args.nonce }], structuredContent };
}

/** Whether it was sent. @param {any} call @param {string} nonce */
function log({ world, connection, params, send }, nonce) {
  const level = world.modern ? (params._meta?.[`${META}logLevel`] ?? "off") : (connection.level ?? "debug");
  const wanted = level !== "off" && LEVELS.indexOf("info") >= LEVELS.indexOf(level);
  if (wanted) send({ method: "notifications/message", params: { level: "info", logger: world.name, data: { nonce } } });
  return wanted;
}

/** @param {string} kind @param {string} nonce */
function questionOf(kind, nonce) {
  if (kind === "sampling") {
    const messages = [{ role: "user", content: { type: "text", text: nonce } }];
    return { method: "sampling/createMessage", params: { messages, maxTokens: 10 } };
  }
  const requestedSchema = { type: "object", properties: { reply: { type: "string" } }, required: ["reply"] };
  return { method: "elicitation/create", params: { message: nonce, requestedSchema } };
}

/**
 * Puts a question: by a request in one era, by the call's result in the other.
 * @param {any} call
 * @param {string} kind
 * @param {string} nonce
 * @returns {Promise<{ question?: object, reply?: unknown }>}
 */
async function put({ world, params, request }, kind, nonce) {
  const question = questionOf(kind, nonce);
  if (!world.modern) {
    const { result, error } = await request(question);
    return { reply: error ? { refused: error } : replyIn(result) };
  }
  const { requestState, inputResponses } = params;
  if (requestState === undefined) {
    const state = JSON.stringify({ server: world.name, nonce, round: randomUUID() });
    return { question: { inputRequests: { question }, requestState: state } };
  }
  world.book(nonce, "ask", roundIn(requestState, world.name, nonce));
  return { reply: replyIn(inputResponses?.question) };
}

/**
 * All that the server has to know is in the state: whichever process of the server gets it can go
 * on.
 * @param {string} state @param {string} server @param {string} nonce @returns {string}
 */
function roundIn(state, server, nonce) {
  try {
    const known = JSON.parse(state);
    if (known.server === server && known.nonce === nonce) return known.round;
  } catch {
    // Not a state of any server here.
  }
  throw { code: -32602, message: "Unknown requestState" };
}

/** @param {any} result */
function replyIn(result) {
  return result?.content?.reply ?? result?.content?.text;
}
