/** Small answers are sent together at the end of a turn. Until then, anything may happen. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { JSON_HEADERS } from "../../../src/front/http/exchange.ts";
import type { NodeExchange } from "../../../src/front/http/node/node-exchange.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { answersTo, GET, listen } from "../../fixtures/exchanges.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

test.each([
  ["a connection that ends", (response: ServerResponse) => response.socket!.destroy()],
  ["an answer that is given up", (response: ServerResponse) => response.destroy()],
])("%s in the turn of its answer harms nobody", async (_, end) => {
  let asked = 0;
  const { port } = await listen((x, response) => {
    x.reply(200, JSON_HEADERS, '{"n":1}');
    if (++asked === 1) end(response);
  });
  const first = await answersTo(port, GET);
  await until(() => asked === 1);
  const second = await answersTo(port, GET);
  await until(() => second().endsWith('{"n":1}'));
  expect(first()).toBe("");
});

test("only the first answer to a request is sent", async () => {
  const { port } = await listen((x) => {
    x.reply(200, JSON_HEADERS, '{"n":1}');
    x.reply(500, JSON_HEADERS, '{"n":2}');
    setImmediate(() => x.reply(500, JSON_HEADERS, '{"n":3}'));
  });
  const got = await answersTo(port, GET);
  await until(() => got().includes("{"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(got().match(/\{.*\}/g)).toEqual(['{"n":1}']);
});

test("requests in one packet are answered in their order, whatever the order and size of the answers", async () => {
  const waiting: NodeExchange[] = [];
  const sizes = [10, 20_000, 300_000, 5];
  const { port } = await listen((x) => {
    waiting.push(x);
    if (waiting.length < sizes.length) return;
    for (const [n, one] of [...waiting.entries()].reverse())
      one.reply(200, JSON_HEADERS, JSON.stringify({ n, text: "é".repeat(sizes[n]!) }));
  });
  const got = await answersTo(port, GET.repeat(sizes.length));
  await until(() => (got().match(/\}/g) ?? []).length === sizes.length);
  const answers = [...got().matchAll(/\{.*?\}/g)].map(([text]) => JSON.parse(text) as { n: number; text: string });
  expect(answers.map(({ n, text }) => [n, text.length])).toEqual([...sizes.entries()]);
});

test("a server that is closed in the turn of an answer still sends it", async () => {
  const { server, port } = await listen((x) => {
    x.reply(200, JSON_HEADERS, '{"n":1}');
    server.close();
    server.closeIdleConnections();
  });
  const got = await answersTo(port, GET);
  await until(() => got().endsWith('{"n":1}'));
});

const BODY_BYTES = 100;
const posted = (body: string): string =>
  `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (...chunks: string[]): string =>
  `POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${[...chunks, ""]
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join("")}`;

/** Reads the bodies, each after `wait`, and answers with their order. */
async function listenForBodies(wait?: () => Promise<unknown>) {
  const bodies: (string | undefined)[] = [];
  const { port } = await listen(async (x) => {
    await wait?.();
    x.body(BODY_BYTES, (body) => {
      bodies.push(body?.toString());
      x.reply(200, JSON_HEADERS, JSON.stringify({ n: bodies.length }));
    });
  });
  return { port, bodies };
}

describe.each([
  ["at once", undefined],
  ["when its body is there", () => new Promise((resolve) => setTimeout(resolve, 30))],
])("a request that is read %s", (_, wait) => {
  test.each([
    ["an empty body", posted(""), [""]],
    ["a body", posted("first"), ["first"]],
    [
      "bodies in one packet",
      posted("first") + posted("") + chunked("sec", "ond") + posted("third"),
      ["first", "", "second", "third"],
    ],
    ["the largest body", posted("x".repeat(BODY_BYTES)), ["x".repeat(BODY_BYTES)]],
    [
      "a body that is too large, then one that is not",
      posted("x".repeat(BODY_BYTES + 1)) + posted("next"),
      [undefined, "next"],
    ],
  ])("%s", async (_name, requests, expected) => {
    const { port, bodies } = await listenForBodies(wait);
    const got = await answersTo(port, requests);
    await until(() => got().includes(`{"n":${expected.length}}`));
    expect(bodies).toEqual(expected);
  });

  test("bodies whose bytes come one by one", async () => {
    const { port, bodies } = await listenForBodies(wait);
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    onDispose(() => void socket.destroy());
    for (const byte of Buffer.from(posted("grün") + posted("second"))) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    await until(() => bodies.length === 2);
    expect(bodies).toEqual(["grün", "second"]);
  });

  test("a client that has sent all and disconnects counts as gone", async () => {
    let aborted = 0;
    let read = 0;
    const { port } = await listen(async (x) => {
      await wait?.();
      x.onAbort(() => aborted++);
      x.body(BODY_BYTES, () => read++);
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(posted("first"));
    await until(() => read === 1);
    socket.destroy();
    await until(() => aborted === 1);
  });

  test("a client that leaves in the middle of its body affects nobody else", async () => {
    const { port, bodies } = await listenForBodies(wait);
    const socket = connect(port, "127.0.0.1");
    socket.resume().end(posted("first").slice(0, -2));
    await new Promise((resolve) => socket.once("close", resolve));
    const got = await answersTo(port, posted("second"));
    await until(() => got().includes('{"n":1}'));
    expect(bodies).toEqual(["second"]);
  });
});

test("a small body does not go through Node's stream", async () => {
  let request: IncomingMessage | undefined;
  const { port } = await listen((x) => {
    request = x.node.incoming;
    x.body(BODY_BYTES, () => x.reply(200, JSON_HEADERS, "{}"));
  });
  const got = await answersTo(port, posted("first"));
  await until(() => got().endsWith("{}"));
  expect([request?.readableFlowing, request?.readableEnded]).toEqual([null, true]);
});

describe("the head of an answer", () => {
  /** Replies when the request is complete: else the connection would be closed. */
  const listenFor = (reply: (x: NodeExchange) => void) => listen((x) => void setImmediate(() => reply(x)));
  const heads = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 .*?\r\n\r\n/gs)].map(([head]) => head.replace(/\r\nDate: [^\r]+/, "\r\nDate: then"));
  const plain = (length: number): string =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n` +
    "keep-alive: timeout=60\r\nDate: then\r\nConnection: keep-alive\r\n\r\n";

  test("names the length of its body and how long the connection stays open", async () => {
    const bodies = ['{"n":1}', '{"n":22}', `{"n":"${"é".repeat(20_000)}"}`, '{"n":"é"}', ""];
    let asked = 0;
    const { port } = await listenFor((x) => x.reply(200, JSON_HEADERS, bodies[asked++]));
    const got = await answersTo(port, GET.repeat(bodies.length));
    const lengths = bodies.map((body) => Buffer.byteLength(body));
    await until(() => heads(got()).length === bodies.length);
    expect(heads(got())).toEqual(lengths.map(plain));
    expect(got().replace(/\r\nDate: [^\r]+/g, "\r\nDate: then")).toBe(
      bodies.map((body, i) => plain(lengths[i]!) + body).join(""),
    );
  });

  test.each([
    ["to a HEAD request", GET.replace("GET", "HEAD"), plain(2), ""],
    [
      "to a client that asks for the end of the connection",
      GET.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"),
      plain(2).replace(/Connection: .*/s, "Connection: close\r\n\r\n"),
      "{}",
    ],
    [
      "to a client of HTTP/1.0",
      GET.replace("1.1", "1.0"),
      plain(2).replace(/Connection: .*/s, "Connection: close\r\n\r\n"),
      "{}",
    ],
  ])("%s is its own", async (_, request, head, body) => {
    const { port } = await listenFor((x) => x.reply(200, JSON_HEADERS, "{}"));
    const got = await answersTo(port, GET + GET + request);
    await until(() => heads(got()).length === 3 && got().endsWith(body));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(got().replace(/\r\nDate: [^\r]+/g, "\r\nDate: then")).toBe(`${plain(2)}{}${plain(2)}{}${head}${body}`);
  });
});
