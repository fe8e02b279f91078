/**
 * A client that does not read its large answer, or its full stream, is cut off after a while, and
 * that is told; one that reads slowly is not.
 */
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectSecurely } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { LiveConfig } from "../../../src/config/live-config.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { JSON_HEADERS, STREAM_HEADERS } from "../../../src/front/http/exchange.ts";
import { NodeExchange } from "../../../src/front/http/node/node-exchange.ts";
import { TrustedProxies } from "../../../src/front/trusted-proxies.ts";
import { cert, key } from "../../fixtures/certificate.ts";
import { disposeAll, onDispose, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const SIZE = 64 * 1024 * 1024;
const LIMIT_MS = 1200;

const asAnswer = (x: NodeExchange): void => x.reply(200, JSON_HEADERS, [Buffer.alloc(SIZE, "x")]);
const asEvents = (x: NodeExchange): void => {
  const stream = x.stream(STREAM_HEADERS, { drained() {}, closed() {} });
  stream.write("x".repeat(SIZE));
};

const proxies = new TrustedProxies(new LiveConfig(parseConfig("{}", { file: "test.json", env: {} }).config));

async function ask(serve = asAnswer, isEncrypted = false) {
  let cuts = 0;
  let ended = false;
  const answer: RequestListener = (request, response) => {
    response.once("close", () => {
      ended = true;
    });
    const unread = { ms: LIMIT_MS, cut: () => void cuts++ };
    serve(new NodeExchange(request, response, { unread, proxies }));
  };
  const server = isEncrypted ? createSecureServer({ key, cert }, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const to = { port, host: "127.0.0.1", rejectUnauthorized: false };
  const socket = isEncrypted ? connectSecurely(to) : connect(to);
  onDispose(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return { socket, cuts: () => cuts, ended: () => ended };
}

test.each([
  ["an answer", asAnswer, false],
  ["a stream", asEvents, false],
  ["an encrypted answer", asAnswer, true],
  ["an encrypted stream", asEvents, true],
])("nothing is read of %s", async (_, serve, isEncrypted) => {
  const { socket, cuts, ended } = await ask(serve, isEncrypted);
  socket.pause();
  await until(ended);
  expect(cuts()).toBe(1);
});

test("nothing is read: the limit counts once", async () => {
  const { socket, cuts } = await ask();
  socket.pause();
  await until(() => cuts() > 0);
  // It would be counted again after as long.
  await sleep(LIMIT_MS * 1.2);
  expect(cuts()).toBe(1);
});

test.each([
  ["an answer", asAnswer, false],
  ["an encrypted answer", asAnswer, true],
  ["an encrypted stream", asEvents, true],
])("little by little of %s, for longer than the limit", async (_, serve, isEncrypted) => {
  const { socket, cuts, ended } = await ask(serve, isEncrypted);
  const began = performance.now();
  let bytes = 0;
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length;
    if (performance.now() - began < LIMIT_MS * 3) await sleep(5);
    if (bytes >= SIZE) break;
  }
  await until(ended);
  expect([cuts(), bytes >= SIZE]).toEqual([0, true]);
  expect(performance.now() - began).toBeGreaterThan(LIMIT_MS * 3);
});
