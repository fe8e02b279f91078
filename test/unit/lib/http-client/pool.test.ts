/**
 * The connections to an HTTP server, against real sockets: used again where that is safe and never
 * where it is not; every request ends once; bytes arrive as they were sent, though all connections
 * read into the same memory.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { shared } from "../../../../src/lib/http-client/connection.ts";
import { ConnectionPool } from "../../../../src/lib/http-client/pool.ts";
import { ask, connectTo, moment, type Outcome, POST } from "../../../fixtures/connections.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";
import { until } from "../../../fixtures/until.ts";

afterEach(disposeAll);
afterEach(() => vi.useRealTimers());

/**
 * Listens; every complete request (a body in one piece is enough here) is answered with what
 * `answer` gives, on sockets that are counted.
 */
async function listen(answer: (request: string, socket: Socket) => string | Buffer | undefined, host = "127.0.0.1") {
  const sockets: Socket[] = [];
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let got = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      got += chunk.toString("latin1");
      const length = Number(/content-length: (\d+)/.exec(got)?.[1] ?? 0);
      const end = got.indexOf("\r\n\r\n") + 4;
      if (end < 4 || got.length < end + length) return;
      requests.push(got);
      const given = answer(got, socket);
      got = "";
      if (given !== undefined) socket.write(given);
    });
  });
  return { ...(await connectTo(server, `http://${host.includes(":") ? `[${host}]` : host}`, host)), sockets, requests };
}

/** A server that resets all other connections before it answers its third request. */
const RESETTING = `
  const sockets = [];
  let requests = 0;
  const ok = "HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}";
  const server = require("node:net").createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    socket.on("data", () => {
      if (++requests !== 3) return setTimeout(() => socket.write(ok), 30);
      setTimeout(() => {
        for (const other of sockets) if (other !== socket) other.resetAndDestroy();
        socket.write(ok);
      }, 100);
    });
  }).listen(0, "127.0.0.1", () => console.log(server.address().port));`;

const ok = (body: string, more = ""): string =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("a connection", () => {
  test("takes one request after the other; those at the same time have one each", async () => {
    const { connections, sockets, requests } = await listen(() => ok("{}"));
    for (let i = 0; i < 3; i++) {
      expect((await ask(connections)).head?.status).toBe(200);
      await moment();
    }
    expect(sockets).toHaveLength(1);
    await Promise.all([ask(connections), ask(connections), ask(connections)]);
    expect([sockets.length, requests.length]).toEqual([3, 6]);
    expect(requests[0]).toBe(
      `POST /mcp?a=b HTTP/1.1\r\nhost: 127.0.0.1:${sockets[0]?.localPort}\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}`,
    );
  });

  test.each([
    ["closed by the server's word", ok("{}", "connection: close\r\n")],
    ["kept by the server for too short a time", ok("{}", "keep-alive: timeout=1\r\n")],
    ["with more bytes than the answer has", `${ok("{}")}HTTP/1.1 200 OK\r\n\r\n`],
    [
      "whose answer has two lengths",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("%s is not used again", async (_, answer) => {
    const { connections, sockets } = await listen(() => answer);
    for (let i = 0; i < 2; i++) {
      expect(await ask(connections)).toMatchObject({ head: { status: 200 }, error: undefined });
      await moment();
    }
    expect(sockets).toHaveLength(2);
    await until(() => sockets.every((socket) => socket.destroyed));
  });

  test.each([
    ["that the server closes", (socket: Socket) => socket.end()],
    ["that the server resets", (socket: Socket) => socket.resetAndDestroy()],
    ["on which the server speaks unasked", (socket: Socket) => socket.write("HTTP/1.1 408 Request Timeout\r\n\r\n")],
  ])("without a request %s is replaced", async (_, spoil) => {
    const { connections, sockets } = await listen(() => ok("{}"));
    await ask(connections);
    spoil(sockets[0]!);
    await until(() => sockets[0]!.destroyed);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await ask(connections)).toMatchObject({ head: { status: 200 }, error: undefined });
    expect(sockets).toHaveLength(2);
  });

  test("that nobody uses is closed before the server does it", async () => {
    const { connections, sockets } = await listen(() => ok("{}", "keep-alive: timeout=3\r\n"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    await ask(connections);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    const first = once(sockets[0]!, "close");
    vi.setSystemTime(Date.now() + 2100);
    await ask(connections);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    const second = once(sockets[1]!, "close");
    await first;
    vi.advanceTimersByTime(4100);
    await second;
    expect(sockets).toHaveLength(2);
  });

  test("reads what is many times as long as the memory for it, on several at once", async () => {
    const big = Buffer.alloc(3_000_000, "0123456789abcdefghijklmnopqrstuvwxyz!");
    const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`);
    const { connections } = await listen(() => Buffer.concat([head, big]));
    const sum = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(connections)));
    expect(answers.map(({ body }) => sum(body))).toEqual(answers.map(() => sum(big)));
  });

  test("writes text as UTF-8 and headers as the bytes they are", async () => {
    const { connections, requests } = await listen(() => ok("{}"));
    const head = connections.headOf({ ...POST, headers: { "x-name": "caf\u00e9" } });
    await ask(connections, '{"a":"é ☃ 😀"}', head);
    await ask(connections, "{}", head);
    expect(requests.map((text) => Buffer.from(text, "latin1").toString("utf8").split("\r\n\r\n")[1])).toEqual([
      '{"a":"é ☃ 😀"}',
      "{}",
    ]);
    for (const text of requests) expect(text).toContain("\r\nconnection: keep-alive\r\nx-name: caf\u00e9\r\n");
  });

  test("has its next request at once when those before outlived their answers", async () => {
    const { connections, sockets } = await listen(() => ok("{}"));
    for (let i = 0; i < 40; i++) await ask(connections);
    const before = sockets.length;
    for (let i = 0; i < 40; i++) await ask(connections);
    expect(sockets).toHaveLength(before);
  });

  test("that closes without a word after each answer never costs a request", async () => {
    const { connections } = await listen((_request, socket) => void socket.end(ok("{}")));
    for (let i = 0; i < 6; i++)
      expect(await ask(connections)).toMatchObject({ head: { status: 200 }, error: undefined });
  });

  test("of a server that begins to do so when it was trusted costs one request, not every second one", async () => {
    let answers = 0;
    const { connections } = await listen((_request, socket) => {
      if (++answers <= 15) return ok("{}");
      socket.end(ok("{}"));
      return undefined;
    });
    for (let i = 0; i < 15; i++) await ask(connections);
    const lost: unknown[] = [];
    for (let i = 0; i < 30; i++) lost.push((await ask(connections)).error ?? []);
    expect(lost.flat().length).toBeLessThanOrEqual(1);
  });

  test("whose answer fills the memory for it, with another one behind it, gives that to nobody", async () => {
    const size = shared.length - ok("x".repeat(60_000)).length + 60_000;
    const { connections } = await listen((request) =>
      request.endsWith("1") ? ok("a".repeat(size)) + ok("STALE") : ok("own"),
    );
    for (let i = 0; i < 30; i++) expect((await ask(connections, "2")).body.toString()).toBe("own");
    expect((await ask(connections, "1")).body).toHaveLength(size);
    for (let i = 0; i < 3; i++) expect((await ask(connections, "2")).body.toString()).toBe("own");
  });

  test("whose server answers without reading the whole request takes no other", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.once("data", () => void socket.pause().write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}"));
    });
    const { connections } = await connectTo(server, "http://127.0.0.1");
    for (const body of ["x".repeat(32_000_000), "{}"]) {
      expect(await ask(connections, body)).toMatchObject({ head: { status: 413 } });
      await moment();
    }
    expect(sockets).toHaveLength(2);
  });

  test("that broke while the event loop was busy is not used", async () => {
    const child = spawn(process.execPath, ["-e", RESETTING], { stdio: ["ignore", "pipe", "inherit"] });
    onDispose(() => void child.kill());
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const connections = new ConnectionPool({ url: new URL(`http://127.0.0.1:${Number(port)}`), connectMs: 5000 });
    onDispose(() => connections.destroy());
    await Promise.all([ask(connections), ask(connections)]);
    await moment();
    const later = new Promise<Outcome[]>((resolve) => {
      const complete = () => resolve(Promise.all([ask(connections), ask(connections)]));
      connections.send(connections.headOf(POST), "{}", { head: () => {}, body: () => {}, complete, failed: () => {} });
    });
    await moment();
    // Meanwhile one connection is reset, and the other has its answer.
    const busyUntil = Date.now() + 250;
    while (Date.now() < busyUntil);
    expect((await later).map(({ error }) => error)).toEqual([undefined, undefined]);
  });

  test("over IPv6", async () => {
    const { connections, requests } = await listen(() => ok("{}"), "::1");
    expect(await ask(connections)).toMatchObject({ head: { status: 200 } });
    expect(requests[0]).toContain("host: [::1]:");
  });
});

describe("a request fails, once,", () => {
  test.each([
    ["before an answer", "", { head: undefined, error: { code: "ECONNRESET" } }],
    ["in the middle of the head", "HTTP/1.1 200 OK\r\nx:", { head: undefined, error: { code: "ECONNRESET" } }],
    ["in the middle of the body", ok("{}").slice(0, -1), { head: { status: 200 }, error: { code: "ECONNRESET" } }],
  ])("when the server hangs up %s", async (_, text, outcome) => {
    const { connections } = await listen((_request, socket) => void socket.end(text));
    expect(await ask(connections)).toMatchObject(outcome);
  });

  test("when the answer is not HTTP", async () => {
    const { connections, sockets } = await listen(() => "220 mail.example ESMTP\r\n");
    expect(await ask(connections)).toMatchObject({
      error: { message: "The answer is not HTTP/1.1", code: "BAD_HTTP" },
    });
    await until(() => sockets[0]!.destroyed);
  });

  test("when nobody listens, or the connections are closed under it", async () => {
    const nobody = new ConnectionPool({ url: new URL("http://127.0.0.1:1"), connectMs: 5000 });
    expect(await ask(nobody)).toMatchObject({ error: { code: "ECONNREFUSED" }, unreachable: true });
    const { connections, requests } = await listen(() => undefined);
    const open = ask(connections);
    await until(() => requests.length === 1);
    connections.destroy();
    expect(await open).toMatchObject({
      error: { message: "the connections to this server are closed" },
      unreachable: false,
    });
    expect(() => connections.send("", "", {} as never)).toThrow("the connections to this server are closed");
  });

  test("when its user throws; others do not notice", async () => {
    const { connections } = await listen((request) => ok(request.slice(-3)));
    const other = ask(connections, "[1]");
    const failed = await new Promise<Error>((resolve) => {
      const fail = (): never => {
        throw new Error("a mistake");
      };
      connections.send(connections.headOf(POST), "[2]", {
        head: fail,
        body: () => {},
        complete: () => {},
        failed: resolve,
      });
    });
    expect(failed.message).toBe("a mistake");
    expect((await other).body.toString()).toBe("[1]");
  });

  test.each([
    ["with a length", (socket: Socket) => socket.write(ok("{}"))],
    ["that ends with the connection", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n{}")],
  ])("and the gateway lives when its user throws at the end of an answer %s", async (_, answer) => {
    const { connections } = await listen((_request, socket) => void answer(socket));
    let ended = false;
    connections.send(connections.headOf(POST), "{}", {
      head: () => {},
      body: () => {},
      complete: () => {
        ended = true;
        throw new Error("a mistake");
      },
      failed: () => expect.unreachable(),
    });
    await until(() => ended);
    await moment();
    expect(await ask(connections)).toMatchObject({ head: { status: 200 } });
  });
});

/** A server that answers with 32 MB, as fast as they are read. */
const POURING = `
  const size = 32 * 1024 * 1024;
  const server = require("node:net").createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\\r\\ncontent-length: " + size + "\\r\\n\\r\\n" + "x".repeat(size)));
  }).listen(0, "127.0.0.1", () => console.log(server.address().port));`;

test("an answer that comes without a pause is read in parts, and other events come in between", async () => {
  const child = spawn(process.execPath, ["-e", POURING], { stdio: ["ignore", "pipe", "inherit"] });
  onDispose(() => void child.kill("SIGKILL"));
  const [port] = await once(child.stdout, "data");
  const pool = new ConnectionPool({ url: new URL(`http://127.0.0.1:${Number(port)}`), connectMs: 5000 });
  onDispose(() => pool.destroy());
  let received = 0;
  let inTurn = 0;
  let most = 0;
  const turns = setInterval(() => {}, 1000);
  onDispose(() => clearInterval(turns));
  await new Promise<void>((resolve, reject) => {
    const nextTurn = (): void => {
      most = Math.max(most, inTurn);
      inTurn = 0;
      if (received < 32 * 1024 * 1024) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    pool.send(pool.headOf({ method: "GET", path: "/", headers: {} }), undefined, {
      head: () => {},
      body: (lent) => {
        received += lent.length;
        inTurn += lent.length;
        // A part takes a while, so that the next one has arrived when it is done.
        const until = performance.now() + 0.2;
        while (performance.now() < until);
      },
      complete: resolve,
      failed: reject,
    });
  });
  expect(received).toBe(32 * 1024 * 1024);
  expect(most).toBeLessThanOrEqual(4 * shared.length);
});
