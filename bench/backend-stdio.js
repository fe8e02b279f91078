// @ts-check
// A raw MCP backend on stdin and stdout: one JSON message a line, answers of one turn written
// together. It ends when its stdin does, so that no gateway can leave it behind. node
// bench/backend-stdio.js [--era legacy|modern|both] [--tools n] [--resources n] [--tag t] [--delay
// ms]

import { parseArgs } from "node:util";
import { createAnswers, updated } from "./backend-answers.js";

const { values } = parseArgs({
  options: {
    era: { type: "string", default: "both" },
    tools: { type: "string", default: "0" },
    resources: { type: "string", default: "0" },
    tag: { type: "string", default: "stdio" },
    delay: { type: "string", default: "0" },
  },
});

/** @type {Set<string>} */
const subscribed = new Set();
/** @type {Map<string | number, string[]>} */
const listeners = new Map();
/** @type {(string | Buffer)[]} */
let pending = [];

/** @param {(string | Buffer)[]} pieces */
function send(pieces) {
  if (pending.length === 0) setImmediate(flush);
  pending.push(...pieces, "\n");
}

function flush() {
  const pieces = pending;
  pending = [];
  if (pieces.every((piece) => typeof piece === "string")) {
    process.stdout.write(pieces.join(""));
    return;
  }
  process.stdout.cork();
  for (const piece of pieces) process.stdout.write(piece);
  process.stdout.uncork();
}

/** @param {string} uri */
function announce(uri) {
  if (subscribed.has(uri)) send([updated(uri)]);
  for (const [id, uris] of listeners) if (uris.includes(uri)) send([updated(uri, id)]);
}

const { answer } = createAnswers(
  {
    era: /** @type {import("./backend-answers.js").Era} */ (values.era),
    tools: Number(values.tools),
    resources: Number(values.resources),
    tag: values.tag,
  },
  announce,
);

/** @param {import("./backend-answers.js").Message} message */
function receive(message) {
  if (message.method === "resources/subscribe") subscribed.add(message.params.uri);
  if (message.method === "resources/unsubscribe") subscribed.delete(message.params.uri);
  if (message.method === "notifications/cancelled") listeners.delete(message.params.requestId);
  if (message.method === "subscriptions/listen" && message.id !== undefined) {
    const asked = message.params.notifications ?? {};
    listeners.set(message.id, asked.resourceSubscriptions ?? []);
    const params = { notifications: asked, _meta: { "io.modelcontextprotocol/subscriptionId": message.id } };
    send([JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params })]);
    return;
  }
  const pieces = answer(message);
  if (pieces) send(pieces);
}

function serve() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (/** @type {string} */ chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") receive(JSON.parse(line));
  });
  process.stdin.on("end", () => process.exit(0));
  process.stdout.on("error", () => process.exit(0));
}

// The delay stands for a server that takes its time to start, before it reads its first message.
setTimeout(serve, Number(values.delay));
