// @ts-check
// The floods: what one server or one client may send to make the gateway keep it. Each is bounded
// and ends by itself.

import { fileURLToPath } from "node:url";
import { bodyFloods } from "./bodies.js";
import { MB, pause, sendWithoutReading, startClient, startServer, TOOL, times, unread, writeAgain } from "./parts.js";

/** @typedef {import("./parts.js").Gateway} Gateway */
/**
 * @typedef {{ row: string, what: string, server?: import("./parts.js").Hostile, entry?: object,
 *   run(gateway: Gateway): Promise<void> }} Flood
 */

const DEAF = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../test/fixtures/deaf-server.js", import.meta.url))],
};
const JSON_TYPE = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const name = "s_work";
const hang = { methods: { "tools/call": () => new Promise(() => {}) } };
const text = (/** @type {number} */ bytes) => ({ content: [{ type: "text", text: "x".repeat(bytes) }] });

/**
 * Calls the tool, and gives up after a while.
 * @param {Gateway} gateway
 * @param {object} [args]
 * @param {number} [ms]
 */
async function callOnce(gateway, args = {}, ms = 20_000) {
  const client = await startClient(gateway);
  await Promise.race([client.call("tools/call", { name, arguments: args }).catch(() => {}), pause(ms)]);
}

/**
 * Starts large calls, and cancels them all.
 * @param {Gateway} gateway
 * @param {string} tool
 * @param {number} count
 */
async function startAndCancel(gateway, tool, count) {
  const client = await startClient(gateway);
  await times(count, async (id) => {
    const call = client.call("tools/call", { name: tool, arguments: { text: "x".repeat(3.9 * MB) } }, id + 1000);
    await Promise.race([call, pause(300)]);
    await client.notify("notifications/cancelled", { requestId: id + 1000 });
    await Promise.race([call.catch(() => {}), pause(2000)]);
  });
}

/** @type {readonly Flood[]} */
export const floods = [
  {
    row: "H5",
    what: "240 MB of empty data: lines on the standing stream",
    server: {
      standing: async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        await writeAgain(response, "data:\n".repeat(20_000), 2000);
      },
    },
    run: () => pause(12_000),
  },
  {
    row: "H5",
    what: "60 MB of one-byte chunks as one JSON answer",
    server: {
      methods: {
        "tools/call": async (_, { socket }) => {
          socket?.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
          if (socket) await writeAgain(socket, "1\r\nx\r\n".repeat(20_000), 500);
          socket?.destroy();
        },
      },
    },
    run: (gateway) => callOnce(gateway),
  },
  {
    row: "H5",
    what: "tools/list without an end, one tool of 20 MB a page",
    server: {
      methods: {
        "tools/list": ({ params }) => ({
          tools: [{ ...TOOL, description: "x".repeat(20 * MB) }],
          nextCursor: `${Number(params?.cursor ?? 0) + 1}`,
        }),
      },
    },
    run: () => pause(5000),
  },
  {
    row: "H5",
    what: "200 templates and a result with one URI of 200 kB",
    server: {
      capabilities: { tools: {}, resources: {} },
      methods: {
        "resources/templates/list": () => ({
          resourceTemplates: Array.from({ length: 200 }, (_, n) => ({
            name: `t${n}`,
            uriTemplate: `a:{x}${n}{y}b{z}`,
          })),
        }),
        "tools/call": () => ({ content: [{ type: "resource_link", name: "r", uri: `a:${"1b".repeat(100_000)}` }] }),
      },
    },
    run: (gateway) => callOnce(gateway),
  },
  {
    row: "H5",
    what: "a tool whose outputSchema is 20 000 levels deep",
    server: {
      methods: {
        "tools/list": (_, response) => {
          const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
          const tool = `{"name":"work","inputSchema":{"type":"object"},"outputSchema":${deep}}`;
          response
            .writeHead(200, { "content-type": "application/json" })
            .end(`{"jsonrpc":"2.0","id":${Number(_["id"])},"result":{"tools":[${tool}]}}`);
        },
      },
    },
    run: async (gateway) => void (await (await startClient(gateway)).call("tools/list")),
  },
  {
    row: "H5",
    what: "330 tools of 1.8 MB in pages of ten",
    server: {
      methods: {
        "tools/list": ({ params }) => {
          const page = Number(params?.cursor ?? 0);
          const tools = Array.from({ length: 10 }, (_, n) => ({
            ...TOOL,
            name: `t${page}_${n}`,
            description: "x".repeat(1.8 * MB),
          }));
          return { tools, ...(page < 33 && { nextCursor: `${page + 1}` }) };
        },
      },
    },
    run: async (gateway) => {
      await pause(3000);
      await (await startClient(gateway)).call("tools/list");
    },
  },
  {
    row: "H5",
    what: "30 MB of instructions, 20 clients",
    server: { instructions: "x".repeat(30 * MB) },
    run: (gateway) => times(20, () => startClient(gateway)),
  },
  {
    row: "M10",
    what: "lists of 14 500 tools, prompts and resources",
    server: {
      capabilities: { tools: {}, prompts: {}, resources: {} },
      methods: {
        "tools/list": () => ({ tools: Array.from({ length: 4800 }, (_, n) => ({ ...TOOL, name: `t${n}` })) }),
        "prompts/list": () => ({ prompts: Array.from({ length: 4800 }, (_, n) => ({ name: `p${n}` })) }),
        "resources/list": () => ({
          resources: Array.from({ length: 4800 }, (_, n) => ({ name: `r${n}`, uri: `a:/${n}` })),
        }),
      },
    },
    run: async (gateway) => {
      const client = await startClient(gateway);
      for (const list of ["tools", "prompts", "resources"]) await client.call(`${list}/list`);
    },
  },
  {
    row: "M10",
    what: "a 60 MB answer full of [], members in another order",
    server: {
      methods: {
        "tools/call": ({ id }, response) =>
          void response
            .writeHead(200, { "content-type": "application/json" })
            .end(`{"id":${id},"jsonrpc":"2.0","result":{"content":[${"[],".repeat(20 * MB)}[]]}}`),
      },
    },
    run: (gateway) => callOnce(gateway),
  },
  {
    row: "H5",
    what: "40 answers of 60 MB that never end",
    server: {
      methods: {
        "tools/call": async (_, response) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": String(60 * MB) });
          await writeAgain(response, "x".repeat(MB), 59);
          await new Promise(() => {});
        },
      },
    },
    run: async (gateway) => {
      const client = await startClient(gateway);
      const calls = Array.from({ length: 40 }, () => client.call("tools/call", { name }).catch(() => {}));
      await Promise.race([Promise.all(calls), pause(15_000)]);
    },
  },
  {
    row: "–",
    what: "200 000 log messages on the standing stream",
    server: {
      capabilities: { tools: {}, logging: {} },
      standing: async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const message = {
          jsonrpc: "2.0",
          method: "notifications/message",
          params: { level: "error", data: "x".repeat(200) },
        };
        await pause(1000);
        await writeAgain(response, `data: ${JSON.stringify(message)}\n\n`.repeat(1000), 200);
      },
    },
    run: async (gateway) => {
      const { headers } = await startClient(gateway);
      sendWithoutReading(gateway, { ...headers }, JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" }));
      await pause(8000);
    },
  },
  {
    row: "H7",
    what: "100 sessions with 4 MB of clientInfo",
    run: (gateway) => times(100, () => startClient(gateway, { name: "x".repeat(3.9 * MB), version: "1" })),
  },
  {
    row: "H7",
    what: "60 answers of 8 MB as event streams, all read",
    server: { methods: { "tools/call": () => text(8 * MB) } },
    run: async (gateway) => {
      const client = await startClient(gateway);
      const body = (/** @type {number} */ id) =>
        JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
      await times(60, (id) => client.send(body(id), { accept: "text/event-stream" }), 1);
    },
  },
  {
    row: "H7",
    what: "a batch of 20 000 tools/list",
    run: async (gateway) => {
      const client = await startClient(gateway);
      const batch = Array.from({ length: 20_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }));
      await Promise.race([client.send(JSON.stringify(batch)).catch(() => {}), pause(20_000)]);
    },
  },
  {
    row: "M5",
    what: "200 cancelled calls of 4 MB to a program that does not read",
    entry: DEAF,
    run: (gateway) => startAndCancel(gateway, "s_listen", 200),
  },
  ...bodyFloods,
  {
    row: "M5",
    what: "200 cancelled calls of 4 MB that wait for a place",
    server: hang,
    run: async (gateway) => {
      const client = await startClient(gateway);
      for (let n = 0; n < 256; n++) void client.call("tools/call", { name }).catch(() => {});
      await startAndCancel(gateway, name, 200);
    },
  },
  {
    row: "M5",
    what: "5 000 questions in one call",
    server: {
      methods: {
        "tools/call": async (_, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          for (let id = 0; id < 5000; id++) {
            const params = { message: "x".repeat(20_000), requestedSchema: { type: "object", properties: {} } };
            response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "elicitation/create", params })}\n\n`);
          }
          await new Promise(() => {});
        },
      },
    },
    run: (gateway) => callOnce(gateway, {}, 10_000),
  },
  {
    row: "M5",
    what: "10 000 sessions that were ended",
    run: (gateway) => times(10_000, async () => void (await (await startClient(gateway)).end()), 16),
  },
  {
    row: "L8",
    what: "30 answers of 20 MB that a session does not read",
    server: { methods: { "tools/call": () => text(20 * MB) } },
    run: async (gateway) => {
      const { headers } = await startClient(gateway);
      await unread(gateway, headers, { name });
    },
  },
  {
    row: "L8",
    what: "the same without a session",
    server: { methods: { "tools/call": () => text(20 * MB) } },
    run: (gateway) => {
      const prefix = "io.modelcontextprotocol";
      const about = { [`${prefix}/protocolVersion`]: "2026-07-28", [`${prefix}/clientCapabilities`]: {} };
      const _meta = { ...about, [`${prefix}/clientInfo`]: { name: "flood", version: "1" } };
      const headers = {
        ...JSON_TYPE,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      };
      return unread(gateway, headers, { name, _meta });
    },
  },
];

/** Starts the server of a flood. @param {Flood} flood */
export async function serverOf({ server, entry }) {
  return entry ? { entry, close: () => {} } : startServer(server ?? {});
}
