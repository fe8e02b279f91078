// @ts-check
// What the raw MCP backends say, apart from how they are reached: a message in, the answer's pieces
// out. No SDK, no validation, lists serialised once, so that the backend is never the bottleneck of
// a measurement. Tools: echo, big, hang (never answers), touch (announces an update of a resource),
// then as many fillers as asked for.

import { padding } from "./padding.js";

/** @typedef {"legacy" | "modern" | "both"} Era */
/** @typedef {{ era: Era, tools: number, resources: number, tag: string }} Shape */
/** @typedef {string | Buffer} Piece */
/** @typedef {{ id?: string | number, method?: string, params?: any }} Message */

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const MODERN = "2026-07-28";
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
};
const SUBJECTS = [
  "invoice",
  "customer",
  "branch",
  "ticket",
  "calendar",
  "recipe",
  "sensor",
  "ledger",
  "parcel",
  "lesson",
];
const VERBS = ["list", "create", "update", "archive", "compare", "export", "inspect", "merge", "assign", "validate"];

/** The name of filler tool `n`. @param {number} n */
export const fillerName = (n) => `${VERBS[n % 10]}_${SUBJECTS[Math.floor(n / 10) % 10]}_${String(n).padStart(5, "0")}`;

/** @param {number} n */
function filler(n) {
  const verb = VERBS[n % 10];
  const subject = SUBJECTS[Math.floor(n / 10) % 10];
  return {
    name: fillerName(n),
    title: `${verb} ${subject} ${n}`,
    description: `Use this tool to ${verb} a ${subject} in workspace ${n}. It returns the ${subject} as text with its history and owner.`,
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: `Identifier of the ${subject}` },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "How many entries at most" },
        verbose: { type: "boolean", description: "Whether to include the history" },
      },
      required: ["id"],
    },
    annotations: { readOnlyHint: verb === "list", openWorldHint: false },
  };
}

/** @param {string} name @param {string} description @param {string[]} required */
const tool = (name, description, required) => ({
  name,
  description,
  inputSchema: { type: "object", properties: Object.fromEntries(required.map((key) => [key, {}])), required },
});

/** @param {Shape} shape */
function lists({ tools, resources, tag }) {
  const own = [
    tool("echo", "Returns its text", ["text"]),
    tool("big", "Returns a text of the given size", ["text", "size"]),
    tool("hang", "Never answers", []),
    tool("touch", "Announces that a resource has changed", ["uri"]),
  ];
  return {
    "tools/list": { tools: [...own, ...Array.from({ length: tools }, (_, n) => filler(n))] },
    "prompts/list": { prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] },
    // A resource's description is its original URI: whatever form a gateway lists it in, the reader
    // knows what to expect.
    "resources/list": {
      resources: Array.from({ length: resources }, (_, n) => {
        const uri = `bench://${tag}/items/${n}`;
        return { uri, name: `item ${n}`, description: uri, mimeType: "text/plain" };
      }),
    },
    "resources/templates/list": {
      resourceTemplates: [
        {
          uriTemplate: `bench://${tag}/rows/{row}`,
          name: "row",
          description: `bench://${tag}/rows/`,
          mimeType: "text/plain",
        },
      ],
    },
  };
}

/** @param {any} id @param {number} code @param {string} message */
const failure = (id, code, message) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},"error":{"code":${code},"message":${JSON.stringify(message)}}}`;

/**
 * One backend: `answer` maps a message to the pieces of its answer (nothing for notifications and
 * calls that hang); `announce` is called with every URI that a client touched.
 * @param {Shape} shape
 * @param {(uri: string) => void} announce
 */
export function createAnswers(shape, announce) {
  const info = { name: `bench-${shape.tag}`, version: "1.0.0" };
  const stamp = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${JSON.stringify(info)}},`;
  /** @type {Map<string, string>} */
  const listed = new Map(
    Object.entries(lists(shape)).map(([method, result]) => [method, JSON.stringify(result).slice(1)]),
  );

  /** @param {Message} message @returns {Piece[] | undefined} */
  function answer(message) {
    const { id, method = "", params } = message;
    if (id === undefined) return undefined;
    const modern = params?._meta?.[VERSION_KEY] !== undefined;
    if (modern ? shape.era === "legacy" : shape.era === "modern") {
      return [
        failure(id, modern ? -32601 : -32022, modern ? `Method not found: ${method}` : "Unsupported protocol version"),
      ];
    }
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${modern ? stamp : ""}`;
    const cached = modern ? `"ttlMs":0,"cacheScope":"public",` : "";

    const list = listed.get(method);
    if (list !== undefined) return [`${head}${cached}${list}}`];
    switch (method) {
      case "tools/call":
        return call(head, id, params);
      case "resources/read": {
        const uri = JSON.stringify(params.uri);
        return [`${head}${cached}"contents":[{"uri":${uri},"mimeType":"text/plain","text":${uri}}]}}`];
      }
      case "prompts/get": {
        const text = JSON.stringify(`Hello, ${params.arguments?.who}`);
        return [`${head}"messages":[{"role":"user","content":{"type":"text","text":${text}}}]}}`];
      }
      case "initialize": {
        const result = { protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo: info };
        return [head, JSON.stringify(result).slice(1), "}"];
      }
      case "server/discover": {
        const result = { supportedVersions: [MODERN], capabilities: CAPABILITIES };
        return [head, cached, JSON.stringify(result).slice(1), "}"];
      }
      case "ping":
      case "resources/subscribe":
      case "resources/unsubscribe":
      case "logging/setLevel":
        return [`${head}"_meta":{}}}`];
      default:
        return [failure(id, -32601, `Method not found: ${method}`)];
    }
  }

  /** @param {string} head @param {any} id @param {any} params @returns {Piece[] | undefined} */
  function call(head, id, params) {
    const args = params.arguments ?? {};
    const text = JSON.stringify(args.text ?? "");
    switch (params.name) {
      case "echo":
        return [`${head}"content":[{"type":"text","text":${text}}]}}`];
      case "big":
        return [`${head}"content":[{"type":"text","text":${text.slice(0, -1)}`, padding(args.size), `"}]}}`];
      case "hang":
        return undefined;
      case "touch":
        announce(args.uri);
        return [`${head}"content":[{"type":"text","text":${text}}]}}`];
      default:
        return [failure(id, -32602, `Tool not found: ${params.name}`)];
    }
  }

  return { answer };
}

/**
 * The notification that a resource has changed.
 * @param {string} uri
 * @param {string | number} [listener]
 */
export function updated(uri, listener) {
  const meta = listener === undefined ? {} : { _meta: { "io.modelcontextprotocol/subscriptionId": listener } };
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri, ...meta } });
}
