/**
 * The link over Streamable HTTP, against a server made of node:http: an answer whose stream breaks
 * off is taken up where it broke, and asked for once.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Exchange } from "../../../../src/lib/http-client/exchange.ts";
import { Reopening, shortestPause } from "../../../../src/lib/timing/reopening.ts";
import { Lingering } from "../../../../src/mcp/links/lingering.ts";
import { ServerBytes } from "../../../../src/mcp/links/server-bytes.ts";
import { httpLink } from "../../../../src/mcp/links/streamable-http.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";
import { until } from "../../../fixtures/until.ts";

afterEach(async () => {
  vi.useRealTimers();
  await disposeAll();
});

type Served = IncomingMessage & { body: string };

async function open(answer: (request: Served, response: ServerResponse) => void, more: object = {}) {
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
  const bytes = new ServerBytes(() => ({ messageCap: 10_000, unsentCap: 10_000 }));
  const link = await httpLink({ url, headers: {}, connectMs: 1000, messageCap: 10_000, bytes, ...more } as never)({
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
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { link, seen, told, send, open };
}

const someTime = () => new Promise((resolve) => setTimeout(resolve, 1500));

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

describe("a server that says retry: 0", () => {
  test("and breaks every answer off is asked for the rest at growing pauses", async () => {
    let events = 0;
    const { seen, send } = await open((_, response) => {
      response.writeHead(200, stream);
      response.write(`id: ${++events}\nretry: 0\ndata:\n\n`, () => response.destroy());
    });
    send(7);
    await until(() => seen.length > 3);
    await someTime();
    expect(seen.length).toBeLessThan(12);
  });

  test("and ends the standing stream at once is asked for it at growing pauses", async () => {
    const { link, seen } = await open((_, response) => {
      response.writeHead(200, stream).end("retry: 0\n\n");
    });
    link.established({});
    await until(() => seen.length > 1);
    await someTime();
    expect(seen.length).toBeLessThan(5);
  });
});

test("pauses before a stream is opened again", () => {
  let now = 0;
  const pauses = new Reopening(() => now);
  const endAfter = (ms: number, asked?: number): number => {
    pauses.opened();
    now += ms;
    return pauses.afterEnd(asked);
  };
  expect([0, 0, 0, 0, 0, 0, 0].map((ms) => endAfter(ms, 0))).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(endAfter(10_000)).toBe(1000);
  expect(endAfter(10_000, 3000)).toBe(3000);
  // What the server asked for holds until it asks for something else.
  expect(endAfter(10_000)).toBe(3000);
  expect([0, 1, 2, 3, 20].map(shortestPause)).toEqual([0, 50, 100, 200, 1000]);
});

describe("an exchange that nobody waits for", () => {
  const linger = { idleMs: 60 };

  test("a message that needs no answer and gets none is given up", async () => {
    const { link, open: connections, seen, told } = await open(() => {}, { linger });
    link.send('{"method":"notifications/cancelled"}');
    await until(() => seen.length === 1);
    await until(async () => (await connections()) === 0);
    expect(told).toEqual(["problem: The connection broke before an answer"]);
  });

  test("a stream that stays open behind its answer is ended, and the link goes on", async () => {
    const {
      open: connections,
      told,
      send,
    } = await open(
      (_, response) => {
        response.writeHead(200, stream);
        response.write('data: {"ok":true}\n\n');
      },
      { linger },
    );
    send(1);
    await until(() => told.length === 1);
    await until(async () => (await connections()) === 0);
    send(2);
    await until(() => told.length === 2);
    expect(told).toEqual(['1: {"ok":true}', '2: {"ok":true}']);
  });

  test("a stream on which something comes stays, but not for ever", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    let aborted = 0;
    const busy = { received: 0, abort: () => void aborted++ };
    const lingering = new Lingering(() => [], {});
    lingering.add(busy as unknown as Exchange);
    for (let seconds = 0; seconds < 500; seconds += 10) {
      busy.received++;
      vi.advanceTimersByTime(10_000);
    }
    expect(aborted).toBe(0);
    for (let seconds = 0; seconds < 200; seconds += 10) {
      busy.received++;
      vi.advanceTimersByTime(10_000);
    }
    expect(aborted).toBe(1);
    lingering.close();
  });

  test("of streams that stay open behind their answers there are never many", async () => {
    const {
      open: connections,
      told,
      send,
    } = await open((_, response) => {
      response.writeHead(200, stream);
      response.write('data: {"ok":true}\n\n');
    });
    for (let id = 1; id <= 300; id++) {
      send(id);
      await until(() => told.length === id, { everyMs: 1 });
    }
    await until(async () => (await connections()) < 150);
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
