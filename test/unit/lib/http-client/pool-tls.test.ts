/**
 * ConnectionPool over TLS: to whom nothing is sent, whom is waited for, and a whole gateway with a
 * server that it trusts.
 */
import { writeFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServerBytes } from "../../../../src/mcp/links/server-bytes.ts";
import { httpLink } from "../../../../src/mcp/links/streamable-http.ts";
import { cert, key } from "../../../fixtures/certificate.ts";
import { connectV2 } from "../../../fixtures/clients.ts";
import { ask, connectTo, moment } from "../../../fixtures/connections.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";
import { startGoblin } from "../../../fixtures/goblin.ts";
import { serveHome, startServe } from "../../../fixtures/serve.ts";
import { until } from "../../../fixtures/until.ts";

afterEach(disposeAll);

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
    expect(await ask(connections)).toMatchObject({
      head: undefined,
      error: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      unreachable: true,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(got).toBe(0);
  });

  test("the gateway says what is wrong with such a server, and what to do", async () => {
    const server = createTlsServer({ key, cert }).on("tlsClientError", () => {});
    const { origin } = await connectTo(server, "https://localhost", "localhost");
    for (const type of ["http", "sse", undefined]) {
      const { gateway } = await startGoblin({
        mcpServers: { strange: { url: `${origin}/mcp`, ...(type && { type }) } },
      });
      expect([type, gateway.servers.roster.get("strange")?.backend.status.reason]).toEqual([
        type,
        `cannot be reached at ${origin} (DEPTH_ZERO_SELF_SIGNED_CERT): its certificate is not accepted; if it is your own, name the file in NODE_EXTRA_CA_CERTS`,
      ]);
    }
  });

  test("a server that never shakes hands is given up in time", async () => {
    const sockets: Socket[] = [];
    const { connections } = await connectTo(
      createServer((socket) => void sockets.push(socket.resume())),
      "https://127.0.0.1",
      "127.0.0.1",
      { connectMs: 150 },
    );
    expect(await ask(connections)).toMatchObject({
      error: { message: "no connection within 150 ms", code: "CONNECT_TIMEOUT" },
    });
    await until(() => sockets[0]!.destroyed);
  });

  describe("to a server that", () => {
    beforeEach(() => {
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      onDispose(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    });

    const ok = (body: string, more = ""): string =>
      `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

    /** Answers each request with what `answer` writes. */
    const secure = (answer: (socket: Socket, request: string) => void) =>
      createTlsServer({ key, cert }, (socket) => {
        socket.on("error", () => {});
        socket.on("data", (chunk) => answer(socket, String(chunk)));
      });

    /** A server before which each connection is seen first; those that `refuse` wants are reset. */
    const behind = (inner: Server, refuse: (first: Buffer, count: number) => boolean) => {
      let count = 0;
      return createServer((socket) => {
        const place = ++count;
        socket.on("error", () => {});
        socket.once("data", (first) => {
          if (refuse(first, place)) return void socket.resetAndDestroy();
          socket.pause().unshift(first);
          inner.emit("connection", socket);
        });
      });
    };

    test("says more than it was asked for: nobody gets that, however well it was known", async () => {
      // As long as one record of TLS: what follows is the next one.
      const own = ok("a".repeat(16_384 - ok("a".repeat(16_000)).length + 16_000));
      let answers = 0;
      const server = secure((socket) => void socket.write(++answers <= 15 ? own : own + ok("STRAY")));
      const { connections } = await connectTo(server, "https://localhost", "localhost");
      for (let i = 1; i <= 25; i++) expect((await ask(connections)).body.toString()).toMatch(/^a+$/);
    });

    test("breaks one handshake: other requests are answered, and the link stays", async () => {
      const inner = secure((socket, request) => {
        const id = /"id":(\d+)/.exec(request)?.[1];
        setTimeout(() => socket.write(ok(`{"id":${id}}`, "content-type: application/json\r\n")), 300);
      });
      const { origin } = await connectTo(
        behind(inner, (_, count) => count === 4),
        "https://localhost",
        "localhost",
      );
      const waiting = new Set([1, 2, 3, 4]);
      const told: string[] = [];
      const bytes = new ServerBytes(() => ({ messageCap: 1000, unsentCap: 1000 }));
      const options = { url: `${origin}/mcp`, headers: {}, connectMs: 2000, messageCap: 1000, bytes };
      const link = await httpLink(options as never)({
        message: (_bytes, id) => void (waiting.delete(id!) && told.push(`${id} answered`)),
        failed: (id, { message }, fate) => void (waiting.delete(id) && told.push(`${id} ${message} ${fate}`)),
        waiting: (id) => waiting.has(id),
        closed: ({ message }) => void told.push(`closed ${message}`),
        problem: () => {},
      });
      onDispose(() => link.close());
      for (const id of [1, 2, 3]) link.send(`{"id":${id}}`, { id });
      await new Promise((resolve) => setTimeout(resolve, 100));
      link.send('{"id":4}', { id: 4 });
      await until(() => told.length === 4);
      expect(told.sort()).toEqual([
        "1 answered",
        "2 answered",
        "3 answered",
        `4 The server cannot be reached at ${origin} (ECONNRESET) unsent`,
      ]);
    });

    test("does not take up a session: the next connection is made without it", async () => {
      const inner = secure((socket) => socket.write(ok("{}", "connection: close\r\n")));
      // What a client offers in order to resume is the last extension of its hello (41), and makes
      // it long.
      const resumes = (first: Buffer): boolean => first.length > 600 && first.includes(Buffer.from([0, 41]));
      const { connections } = await connectTo(behind(inner, resumes), "https://localhost", "localhost");
      const errors: unknown[] = [];
      for (let i = 0; i < 6; i++) {
        errors.push((await ask(connections)).error?.code);
        await moment();
      }
      expect(errors.slice(0, 4)).toEqual([undefined, "ECONNRESET", undefined, "ECONNRESET"]);
    });
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
    const names = new Set<string | false | null>();
    const resumed: boolean[] = [];
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
    server.on("secureConnection", (socket: TLSSocket) => {
      names.add(socket.servername);
      resumed.push(socket.isSessionReused());
    });
    // By its address, but asked for by its name: that is the one in the certificate.
    const { origin } = await connectTo(server, "https://127.0.0.2", "127.0.0.2");
    const entry = { type: "http", url: `${origin}/mcp`, headers: { Host: "localhost" } };
    const home = await serveHome({ mcpServers: { safe: entry } });
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const { url } = await startServe(home, { NODE_EXTRA_CA_CERTS: trusted });
    const { client } = await connectV2({ url });
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "safe_hello"));
    const { content } = await client.callTool({ name: "safe_hello", arguments: {} });
    expect(content).toEqual([{ type: "text", text: big }]);
    await Promise.all([1, 2, 3].map(() => client.callTool({ name: "safe_hello", arguments: {} })));
    expect([...names]).toEqual(["localhost"]);
    expect(resumed[0]).toBe(false);
    expect(resumed).toContain(true);
  });
});
