/** What becomes of a connection during and after its answers, and what it keeps of them. */
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { JSON_HEADERS } from "../../../src/front/http/exchange.ts";
import type { NodeExchange } from "../../../src/front/http/node/node-exchange.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { answersTo, GET, listen } from "../../fixtures/exchanges.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);
setFlagsFromString("--expose-gc");

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
  };

  // On Node 24, a connection keeps an answer of the fast path until the next one.
  const isKept = Number(process.versions.node.split(".")[0]) >= 24;
  const released = Object.entries(answers).filter(([name]) => !isKept || !/small|large/.test(name));
  test.each(released)("is idle and keeps nothing of a request after %s", async (_, answer) => {
    let answered: WeakRef<ServerResponse> | undefined;
    const { port, server } = await listen((x, response) => {
      answered = new WeakRef(response);
      setImmediate(() => answer(x));
    });
    server.keepAliveTimeout = 0;
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
