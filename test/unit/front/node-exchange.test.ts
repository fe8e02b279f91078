/** Small answers are sent together at the end of a turn. Until then, anything may happen. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { LiveConfig } from "../../../src/config/live-config.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";
import { JSON_HEADERS } from "../../../src/front/http/exchange.ts";
import { AbortWatch } from "../../../src/front/http/node/abort-watch.ts";
import { DirectRequest } from "../../../src/front/http/node/direct-request.ts";
import { NodeExchange } from "../../../src/front/http/node/node-exchange.ts";
import { OpenConnections } from "../../../src/front/http/node/open-connections.ts";
import { PlainHead } from "../../../src/front/http/node/plain-head.ts";
import { TrustedProxies } from "../../../src/front/trusted-proxies.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);
setFlagsFromString("--expose-gc");

const proxies = new TrustedProxies(new LiveConfig(parseConfig("{}", { file: "test.json", env: {} }).config));

async function listen(serve: (x: NodeExchange, response: ServerResponse) => void, unreadMs = 60_000) {
  const options = { unread: { ms: unreadMs, cut: () => {} }, proxies, plainHead: new PlainHead() };
  const server = createServer({ IncomingMessage: DirectRequest }, (request, response) => {
    serve(new NodeExchange(request, response, options), response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function answersTo(port: number, requests: string): Promise<() => string> {
  const socket = connect(port, "127.0.0.1");
  onDispose(() => void socket.destroy());
  socket.on("error", () => {});
  let got = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    got += text;
  });
  socket.write(requests);
  return () => got;
}

const GET = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

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

describe("the head of a plain answer", () => {
  /** Replies when the request is complete: else the connection would be closed. */
  const listenFor = (reply: (x: NodeExchange) => void) => listen((x) => void setImmediate(() => reply(x)));
  const heads = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 .*?\r\n\r\n/gs)].map(([head]) => head.replace(/\r\nDate: [^\r]+/, "\r\nDate: then"));
  const plain = (length: number): string =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nDate: then\r\n` +
    "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n";

  test("is the one that Node makes, with the length of its body", async () => {
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

  test("names the time of its own second", async () => {
    const { port } = await listenFor((x) => x.reply(200, JSON_HEADERS, "{}"));
    const dates: number[] = [];
    for (let i = 0; i < 3; i++) {
      const before = Math.floor(Date.now() / 1000) * 1000;
      const got = await answersTo(port, GET);
      await until(() => got().endsWith("{}"));
      const date = Date.parse(/\r\nDate: ([^\r]+)/.exec(got())![1]!);
      // Node's own clock for heads may be late by its timer.
      expect(date).toBeGreaterThanOrEqual(before - 1000);
      dates.push(date);
      await new Promise((resolve) => setTimeout(resolve, 1100));
    }
    expect(new Set(dates).size).toBeGreaterThan(1);
  });

  test("with more headers is not taken for a plain one", async () => {
    let asked = 0;
    const { port } = await listenFor((x) => {
      if (++asked === 2) x.shared = { vary: "origin" };
      x.reply(asked === 3 ? 404 : 200, JSON_HEADERS, "{}");
    });
    const got = await answersTo(port, GET.repeat(4));
    await until(() => heads(got()).length === 4);
    const [first, second, third, fourth] = heads(got());
    expect([first, fourth]).toEqual([plain(2), plain(2)]);
    expect(second).toContain("vary: origin\r\n");
    expect(third).toMatch(/^HTTP\/1\.1 404 /);
  });
});

test("a connection stays open after a large answer that was watched", async () => {
  const { port, server } = await listen((x) => setImmediate(() => x.reply(200, {}, "x".repeat(600_000))), 60);
  server.keepAliveTimeout = 0;
  const socket = connect(port, "127.0.0.1");
  onDispose(() => void socket.destroy());
  let read = 0;
  socket.on("data", (bytes) => {
    read += bytes.length;
  });
  for (const asked of [1, 2]) {
    socket.write(GET);
    await until(() => read > asked * 600_000);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  expect(socket.destroyed).toBe(false);
});

test("a stream does not keep the headers of its request, and the next request has its own", async () => {
  const seen: (string | undefined)[][] = [];
  let stream: { end(): void } | undefined;
  const { port } = await listen((x) => {
    const before = x.header("x-name");
    if (x.path !== "/stream") {
      // Before it has read the whole request, Node would close the connection after the answer.
      setImmediate(() => x.reply(200, JSON_HEADERS, "{}"));
      seen.push([before, x.header("x-name")]);
      return;
    }
    const opened = x.stream({ "content-type": "text/event-stream" }, { drained: () => {}, closed: () => {} });
    seen.push([before, x.header("x-name")]);
    opened.write("a");
    opened.write("b");
    stream = opened;
  });
  const socket = connect(port, "127.0.0.1");
  onDispose(() => void socket.destroy());
  let got = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    got += text;
  });
  const ask = (path: string, name: string): void =>
    void socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-name: ${name}\r\n\r\n`);
  ask("/first", "one");
  await until(() => got.endsWith("{}"));
  ask("/stream", "two");
  await until(() => got.endsWith("1\r\nb\r\n"));
  stream!.end();
  await until(() => got.endsWith("0\r\n\r\n"));
  ask("/last", "three");
  await until(() => got.endsWith("{}"));
  expect(seen).toEqual([
    ["one", "one"],
    ["two", undefined],
    ["three", "three"],
  ]);
  expect(got.split("HTTP/1.1 200 OK\r\n")).toHaveLength(4);
});

describe("a connection that closes", () => {
  const kinds: Readonly<Record<string, (x: NodeExchange) => void>> = {
    "before an answer": () => {},
    "during an event stream": (x) => x.stream({}, { drained: () => {}, closed: () => {} }).write("a"),
  };

  test.each(Object.entries(kinds))("%s aborts each request on it once, and no answered one", async (_, serve) => {
    const aborted: string[] = [];
    const asked: string[] = [];
    const { port } = await listen((x) => {
      const name = x.path.slice(1);
      asked.push(name);
      x.onAbort(() => aborted.push(name));
      x.onAbort(() => aborted.push(`${name} again`));
      // Before it has read the whole request, Node would close the connection after the answer.
      if (name.startsWith("answered")) setImmediate(() => x.reply(200, JSON_HEADERS, "{}"));
      else serve(x);
    });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const ask = (name: string): void => void socket.write(`GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`);
    for (const name of ["answered-1", "answered-2", "first", "second"]) {
      ask(name);
      await until(() => asked.includes(name));
    }
    socket.destroy();
    await until(() => aborted.length >= 4);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(aborted.sort()).toEqual(["first", "first again", "second", "second again"]);
  });

  const answers: Readonly<Record<string, (x: NodeExchange) => void>> = {
    "a small answer": (x) => x.reply(200, JSON_HEADERS, "{}"),
    "a large answer": (x) => x.reply(200, JSON_HEADERS, "x".repeat(600_000)),
    "an answer in parts": (x) => x.reply(200, JSON_HEADERS, ["[", Buffer.alloc(50_000, "1"), "]"]),
    "an answer without a body": (x) => x.reply(202, {}),
    "an event stream": (x) => x.stream({}, { drained: () => {}, closed: () => {} }).end(),
    "an answer past the exchange": (x) => void x.node.outgoing.end("{}"),
  };

  test.each(Object.entries(answers))("holds nothing after %s", async (_, answer) => {
    const sizes: number[] = [];
    const { port } = await listen((x, response) => {
      x.onAbort(() => {});
      const watch = AbortWatch.of(response.socket!);
      expect(watch.size).toBe(1);
      response.on("close", () => setImmediate(() => sizes.push(watch.size)));
      setImmediate(() => answer(x));
    });
    const got = await answersTo(port, GET);
    await until(() => sizes.length === 1 && got() !== "");
    expect(sizes).toEqual([0]);
  });

  const { "an answer past the exchange": _, ...ownAnswers } = answers;
  test.each(Object.entries(ownAnswers))("is idle and keeps nothing of a request after %s", async (_, answer) => {
    // It does not look by itself during this test.
    const limits = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000, checkMs: 60_000 };
    const connections = new OpenConnections(limits, () => {});
    onDispose(() => connections.close());
    let answered: WeakRef<ServerResponse> | undefined;
    const { port, server } = await listen((x, response) => {
      connections.began(response.req, response);
      answered = new WeakRef(response);
      setImmediate(() => answer(x));
    });
    server.keepAliveTimeout = 0;
    server.on("connection", (socket) => connections.add(socket));
    const got = await answersTo(port, GET);
    const collect = runInNewContext("gc") as () => void;
    await until(() => {
      collect();
      return got() !== "" && answered?.deref() === undefined;
    });
  });

  test("aborts its first request, too", async () => {
    let aborted = 0;
    let asked = 0;
    const { port } = await listen((x) => {
      asked++;
      x.stream({}, { drained: () => {}, closed: () => {} });
      x.onAbort(() => aborted++);
    });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(GET);
    await until(() => asked === 1);
    socket.destroy();
    await until(() => aborted === 1);
  });
});
