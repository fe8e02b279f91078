/** Large bodies of many connections: each turn of the event loop reads a bounded part of them. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { LiveConfig } from "../../../src/config/live-config.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { BodyBudget } from "../../../src/front/bodies/body-budget.ts";
import { NodeExchange } from "../../../src/front/http/node/node-exchange.ts";
import { TrustedProxies } from "../../../src/front/trusted-proxies.ts";

const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanup.splice(0)) end();
});

const proxies = new TrustedProxies(new LiveConfig(parseConfig("{}", { file: "test.json", env: {} }).config));
const CONNECTIONS = 48;
const BODY = Buffer.alloc(512 * 1024, "body ");
/** What 16 connections may deliver in a turn, with what Node has already read of each. */
const MAX_PER_TURN = 16 * 3 * 64 * 1024;

test("what waits in 48 full sockets is read over many turns, and is whole", async () => {
  const held: (() => void)[] = [];
  let inTurn = 0;
  let mostInTurn = 0;
  let isOver = false;
  const bodies = new BodyBudget({ current: { limits: { bodyBytes: 4_000_000 } } } as never);
  const server = createServer((incoming, outgoing) => {
    incoming.pause();
    held.push(() => {
      const options = { unread: { ms: 60_000, cut: () => {} }, proxies };
      const x = new NodeExchange(incoming, outgoing, options);
      x.hold = bodies.hold("");
      x.body(4_000_000, (body) => x.reply(200, {}, String(body?.equals(BODY))));
      incoming.on("data", (chunk: Buffer) => {
        inTurn += chunk.length;
        mostInTurn = Math.max(mostInTurn, inTurn);
      });
      incoming.resume();
    });
  }).listen(0, "127.0.0.1");
  cleanup.push(() => server.closeAllConnections());
  cleanup.push(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answers = Array.from({ length: CONNECTIONS }, async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n`);
    socket.write(BODY);
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    return answer.split("\r\n").at(-1);
  });
  while (held.length < CONNECTIONS) await new Promise((resolve) => setImmediate(resolve));
  const turn = (): void => {
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  for (const begin of held) begin();
  expect(await Promise.all(answers)).toEqual(Array.from({ length: CONNECTIONS }, () => "true"));
  isOver = true;
  expect(mostInTurn).toBeLessThan(MAX_PER_TURN);
});
