/**
 * The link over Streamable HTTP, against a server made of node:http: an answer whose stream breaks
 * off is taken up where it broke, and asked for once.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { httpLink } from "../../../src/links/streamable-http.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

type Served = IncomingMessage & { body: string };

async function open(answer: (request: Served, response: ServerResponse) => void) {
  const seen: Served[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const served = Object.assign(request, { body });
    seen.push(served);
    answer(served, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const told: string[] = [];
  const waiting = new Set<number>();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const link = await httpLink({ url, headers: {}, connectMs: 1000, messageCap: 10_000, server: "s" } as never)({
    message: (bytes, stream) => {
      if (stream !== undefined) waiting.delete(stream);
      told.push(`${stream}: ${bytes}`);
    },
    failed: (id, { message }) => {
      waiting.delete(id);
      told.push(`${id} failed: ${message}`);
    },
    waiting: (id) => waiting.has(id),
    closed: ({ message }) => void told.push(`closed: ${message}`),
    problem: (message) => void told.push(`problem: ${message}`),
  });
  onDispose(async () => {
    await link.close();
    server.closeAllConnections();
    server.close();
  });
  const send = (id: number): void => {
    waiting.add(id);
    link.send(`{"id":${id}}`, { id });
  };
  return { link, seen, told, send };
}

const stream = { "content-type": "text/event-stream" };
const json = { "content-type": "application/json" };

describe("an answer whose stream breaks off", () => {
  test("is taken up after the last event, whatever its id is made of; the request is not sent again", async () => {
    let brokeAt = 0;
    let resumedAt = 0;
    const { seen, told, send } = await open((request, response) => {
      response.writeHead(200, stream);
      if (request.method === "GET") resumedAt = performance.now();
      if (request.method === "POST") {
        brokeAt = performance.now();
        response.write("id: é-1\nretry: 200\ndata:\n\n", () => response.destroy());
      } else response.end('id: é-2\ndata: {"late":true}\n\n');
    });
    send(7);
    await until(() => told.length > 0);
    expect(told).toEqual(['7: {"late":true}']);
    // As long as the server asked for.
    expect(resumedAt - brokeAt).toBeGreaterThan(195);
    expect(seen.map(({ method, headers }) => [method, headers["last-event-id"]])).toEqual([
      ["POST", undefined],
      ["GET", Buffer.from("é-1").toString("latin1")],
    ]);
  });

  test("without event ids is a failure that says so, at once", async () => {
    const { seen, told, send } = await open((_, response) => {
      response.writeHead(200, stream);
      response.write(": hello\n\n", () => response.destroy());
    });
    send(7);
    await until(() => told.length > 0);
    expect(told).toEqual(["7 failed: The connection broke in the middle of the answer"]);
    expect(seen).toHaveLength(1);
  });

  test("after an event whose id no header can carry is a failure, too", async () => {
    const { seen, told, send } = await open((_, response) => {
      response.writeHead(200, stream);
      response.write("id: a\u0001b\nretry: 10\ndata:\n\n", () => response.destroy());
    });
    send(7);
    await until(() => told.length > 0);
    expect(told).toEqual(["7 failed: The connection broke in the middle of the answer"]);
    expect(seen).toHaveLength(1);
  });
});

test("a session id goes with every later request; one with other characters is left out, and said", async () => {
  const ids = ["one", "two\u0001", "three"];
  const { seen, told, send } = await open((_, response) => {
    const id = ids.shift() ?? "";
    // Node would not send the second one.
    response.socket?.end(
      `HTTP/1.1 200 OK\r\nmcp-session-id: ${id}\r\ncontent-type: ${json["content-type"]}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
  });
  for (const id of [1, 2, 3, 4]) {
    send(id);
    await until(() => told.includes(`${id}: {}`));
  }
  expect(seen.map(({ headers }) => headers["mcp-session-id"])).toEqual([undefined, "one", "one", "three"]);
  expect(told.filter((text) => text.startsWith("problem"))).toHaveLength(2);
});
