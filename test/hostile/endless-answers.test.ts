/**
 * A server that answers a call with bytes that lead nowhere: the call fails with an error that
 * names the server, and the server is cut off.
 */
import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { startHostile, writeAgain } from "../fixtures/hostile.ts";
import { disposeAll, rawHttp, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

/** More than any test waits for. */
const ENDLESS = 1_000_000;
const STREAM = { "content-type": "text/event-stream" };
const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

/** What each one writes; returns when its connection is gone. */
const answers: Record<string, [why: string, write: (response: ServerResponse) => Promise<void>]> = {
  "SSE comments": [
    "its answer has more than 4194304 bytes of comments and empty events",
    (response) => writeAgain(response.writeHead(200, STREAM), ": nothing\n".repeat(1000), ENDLESS),
  ],
  "empty SSE comments": [
    "its answer has more than 4194304 bytes of comments and empty events",
    (response) => writeAgain(response.writeHead(200, STREAM), ":\n".repeat(1000), ENDLESS),
  ],
  "SSE events without data": [
    "its answer has more than 4194304 bytes of comments and empty events",
    (response) => writeAgain(response.writeHead(200, STREAM), "event: message\n\n".repeat(1000), ENDLESS),
  ],
  "one SSE event without an end": [
    "its answer has more than 4194304 bytes of comments and empty events",
    (response) => writeAgain(response.writeHead(200, STREAM), "event: message\n".repeat(1000), ENDLESS),
  ],
  "interim responses": [
    "its answer has more than 65536 bytes of interim responses",
    (response) => writeAgain(response.socket!, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100), ENDLESS),
  ],
  trailers: [
    "its answer has more than 65536 bytes of trailers",
    async (response) => {
      response.socket!.write(`${OK}0\r\n`);
      await writeAgain(response.socket!, "x-more: of the same\r\n".repeat(100), ENDLESS);
    },
  ],
  "chunk extensions": [
    "its answer has more than 65536 bytes of chunk extensions",
    async (response) => {
      response.socket!.write(OK);
      await writeAgain(response.socket!, `1;${"x".repeat(1000)}\r\n \r\n`.repeat(10), ENDLESS);
    },
  ],
};

test.each(Object.entries(answers))("a call that is answered with endless %s fails (B11)", async (_, [why, write]) => {
  let isCutOff = false;
  const bad = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
      "tools/call": async (_asked, response) => {
        await write(response);
        isCutOff = true;
      },
    },
  });
  const goblin = await startGoblin({ mcpServers: { bad: bad.entry } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const { message } = await raw.call("tools/call", { name: "bad_work", arguments: {} });
  expect(message.error.message).toContain(`The server at ${new URL(bad.url).origin} was cut off: ${why}`);
  expect(message.error.data).toMatchObject({ serverId: "bad" });
  await until(() => isCutOff, { what: "the end of the connection" });
  expect((await raw.call("ping")).status).toBe(200);
});

test("a stream with comments to keep it alive, and many events, is not cut off (B11)", async () => {
  const bad = await startHostile({
    methods: {
      "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
      "tools/call": async ({ id, params }, response) => {
        response.writeHead(200, STREAM);
        const progress = { progressToken: params._meta.progressToken, progress: 1 };
        const note = { jsonrpc: "2.0", method: "notifications/progress", params: progress };
        await writeAgain(
          response,
          `: alive\n\nevent: message\nid: ${"7".repeat(4000)}\ndata: ${JSON.stringify(note)}\n\n`,
          1500,
        );
        response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })}\n\n`);
      },
    },
  });
  const goblin = await startGoblin({ mcpServers: { bad: bad.entry } });
  const raw = rawHttp(goblin.url);
  await raw.initialize();
  const params = { name: "bad_work", arguments: {}, _meta: { progressToken: "p" } };
  expect((await raw.call("tools/call", params)).message.result).toEqual({ content: [] });
});
