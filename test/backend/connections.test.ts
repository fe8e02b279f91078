/**
 * The connections to an HTTP server, against real sockets: used again where that is safe and never where it is not; every request ends once;
 * bytes arrive as they were sent, though all connections read into the same memory.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AnswerHead } from "../../src/backend/answer-reader.ts";
import { Connections } from "../../src/backend/connections.ts";
import { cert, key } from "../fixtures/certificate.ts";
import { connectV2 } from "../fixtures/clients.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);
afterEach(() => vi.useRealTimers());

const POST = { method: "POST", path: "/mcp?a=b", headers: {} } as const;

/** Listens; every complete request (a body in one piece is enough here) is answered with what `answer` gives, on sockets that are counted. */
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

async function connectTo(server: Server, origin: string, host = "127.0.0.1", connectMs = 5000) {
  server.listen(0, host);
  await once(server, "listening");
  const connections = new Connections(new URL(`${origin}:${(server.address() as AddressInfo).port}`), connectMs);
  onDispose(() => {
    connections.destroy();
    server.close();
  });
  return { connections, origin: `${origin}:${(server.address() as AddressInfo).port}` };
}

interface Outcome {
  head: AnswerHead | undefined;
  body: Buffer;
  error: NodeJS.ErrnoException | undefined;
}

/** The end of a request, which must not come twice. */
function ask(connections: Connections, body: string | undefined = "{}", head: string = connections.headOf(POST)) {
  let answered: AnswerHead | undefined;
  const pieces: Buffer[] = [];
  let ends = 0;
  const ended = new Promise<Outcome>((resolve) => {
    const end = (error?: Error): void => {
      expect(++ends).toBe(1);
      resolve({ head: answered, body: Buffer.concat(pieces), error });
    };
    connections.send(head, body, {
      head: (given) => {
        answered = given;
      },
      body: (lent) => void pieces.push(Buffer.from(lent)),
      complete: () => end(),
      failed: end,
    });
  });
  return ended;
}

const ok = (body: string, more = ""): string =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("a connection", () => {
  test("takes one request after the other; those at the same time have one each", async () => {
    const { connections, sockets, requests } = await listen(() => ok("{}"));
    for (let i = 0; i < 3; i++) expect((await ask(connections)).head?.status).toBe(200);
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
    for (let i = 0; i < 2; i++)
      expect(await ask(connections)).toMatchObject({ head: { status: 200 }, error: undefined });
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
    const first = once(sockets[0]!, "close");
    vi.setSystemTime(Date.now() + 2100);
    await ask(connections);
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
    const head = connections.headOf({ ...POST, headers: { "x-name": "caf\u00e9", host: "front.example" } });
    await ask(connections, '{"a":"é ☃ 😀"}', head);
    await ask(connections, "{}", head);
    expect(requests.map((text) => Buffer.from(text, "latin1").toString("utf8").split("\r\n\r\n")[1])).toEqual([
      '{"a":"é ☃ 😀"}',
      "{}",
    ]);
    for (const text of requests)
      expect(text).toContain("\r\nhost: front.example\r\nconnection: keep-alive\r\nx-name: caf\u00e9\r\n");
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

  test("when the answer is none", async () => {
    const { connections, sockets } = await listen(() => "220 mail.example ESMTP\r\n");
    expect(await ask(connections)).toMatchObject({
      error: { message: "The answer is not HTTP/1.1", code: "BAD_HTTP" },
    });
    await until(() => sockets[0]!.destroyed);
  });

  test("when nobody listens, or the connections are closed under it", async () => {
    const nobody = new Connections(new URL("http://127.0.0.1:1"), 5000);
    expect(await ask(nobody)).toMatchObject({ error: { code: "ECONNREFUSED" } });
    const { connections, requests } = await listen(() => undefined);
    const open = ask(connections);
    await until(() => requests.length === 1);
    connections.destroy();
    expect((await open).error?.message).toBe("the connections to this server are closed");
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
});

describe("over TLS", () => {
  test("nothing is sent to a server that is not trusted", async () => {
    let got = 0;
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", ({ length }) => {
        got += length;
      });
    });
    server.on("tlsClientError", () => {});
    const { connections } = await connectTo(server, "https://localhost", "localhost");
    expect(await ask(connections)).toMatchObject({ head: undefined, error: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(got).toBe(0);
  });

  test("a server that never shakes hands is given up in time", async () => {
    const sockets: Socket[] = [];
    const { connections } = await connectTo(
      createServer((socket) => void sockets.push(socket.resume())),
      "https://127.0.0.1",
      "127.0.0.1",
      150,
    );
    expect(await ask(connections)).toMatchObject({
      error: { message: "no connection within 150 ms", code: "CONNECT_TIMEOUT" },
    });
    await until(() => sockets[0]!.destroyed);
  });

  test("a gateway calls the tools of a server whose certificate it trusts", async () => {
    const tool = { name: "hello", inputSchema: { type: "object" } };
    const big = "x".repeat(300_000);
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      },
      "tools/list": { tools: [tool] },
      "tools/call": { content: [{ type: "text", text: big }] },
    };
    const server = createHttpsServer({ key, cert }, async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
      const result = results[method ?? ""];
      if (!result) return void response.writeHead(id === undefined ? 202 : 400).end();
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    const { origin } = await connectTo(server, "https://localhost", "localhost");
    const home = await serveHome({ mcpServers: { safe: { type: "http", url: `${origin}/mcp` } } });
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const { url } = await startServe(home, { NODE_EXTRA_CA_CERTS: trusted });
    const { client } = await connectV2({ url });
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "safe_hello"));
    const { content } = await client.callTool({ name: "safe_hello", arguments: {} });
    expect(content).toEqual([{ type: "text", text: big }]);
  });
});
