/**
 * Remote servers that cannot be used as they are configured: the reason says why in one line.
 * Redirects are followed where they are safe, and proxies are used.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Login, LoginStore } from "../../../src/auth/login/store.ts";
import { cert, key } from "../../fixtures/certificate.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { serveHome, startServe } from "../../fixtures/serve.ts";

afterEach(async () => {
  vi.unstubAllEnvs();
  await disposeAll();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onDispose(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (answer: Answer) => listen(createServer(answer));

/** A server that answers every request like this, and the reason why it is down. */
async function reasonFor(answer: Answer, entry: Record<string, unknown> = {}) {
  const host = await serve(answer);
  const { gateway } = await startGoblin({ mcpServers: { s: { type: "http", url: `http://${host}/mcp`, ...entry } } });
  expect(["down", "connecting"]).toContain(gateway.servers.status("s")?.state);
  return gateway.servers.status("s")?.reason?.replaceAll(host, "HOST");
}

const replies =
  (status: number, type: string, body: string): Answer =>
  (_, response) =>
    void response.writeHead(status, { "content-type": type }).end(body);

describe("why a remote server is down", () => {
  test.each([
    ["an HTML page", 200, "text/html; charset=utf-8", "<html>", "answered text/html: this is no MCP endpoint"],
    ["404", 404, "text/plain", "no", "does not know the session or the path /mcp (HTTP 404)"],
    [
      "403 with words",
      403,
      "text/plain",
      "Access is only allowed at localhost:4316",
      "refused the request (HTTP 403): Access is only allowed at localhost:4316",
    ],
    ["403 without words", 403, "text/html", "<b>no</b>", 'refused the request (HTTP 403): check its "headers"'],
    [
      "401 with words",
      401,
      "application/json",
      '{"error":"invalid_token","error_description":"The token\\n has expired"}',
      'refused the credentials (HTTP 401: The token has expired): check its "headers"',
    ],
    ["500 with words", 500, "application/json", '{"message":"no database"}', "answered with HTTP 500: no database"],
  ])("%s", async (_, status, type, body, reason) => {
    expect(await reasonFor(replies(status, type, body))).toBe(reason);
  });

  test("nobody listens", async () => {
    const host = await serve(() => {});
    await disposeAll();
    const { gateway } = await startGoblin({ mcpServers: { s: { type: "http", url: `http://${host}/mcp?key=x` } } });
    expect(gateway.servers.status("s")?.reason).toBe(`cannot be reached at http://${host} (ECONNREFUSED)`);
  });

  test("a server's words are short and without our secrets", async () => {
    const echo: Answer = (request, response) => {
      const words = `bad ${request.headers.authorization} at ${request.url} ${"x".repeat(5000)}`;
      response.writeHead(403, { "content-type": "text/plain" }).end(words);
    };
    const headers = { Authorization: "Bearer abcdef-123456" };
    const host = await serve(echo);
    const url = `http://${host}/k-0123456789abcdef/mcp?key=secret-in-query`;
    const goblin = await startGoblin({ mcpServers: { s: { type: "http", url, headers } } });
    const reason = goblin.gateway.servers.status("s")?.reason;
    expect(reason).toMatch(/^refused the request \(HTTP 403\): bad \[hidden\] at \/\[hidden\]\/mcp\?\[hidden\]/);
    expect(reason!.length).toBeLessThan(400);
    expect(JSON.stringify(goblin.logs)).not.toMatch(/abcdef-123456|0123456789abcdef|secret-in-query/);
  });
});

/** What a login at this URL leaves behind. */
function loginAt(url: string): Login {
  return {
    url,
    issuer: "https://issuer.example",
    resource: url,
    principal: "",
    client: { clientId: "goblin", method: "none", redirectUri: "http://127.0.0.1:1/callback" },
    tokenEndpoint: "https://issuer.example/token",
    namesResource: true,
    loggedInAt: 1,
    accessToken: "abcdef-123456",
    obtainedAt: 1,
    scopes: [],
  };
}

describe("a redirect", () => {
  const forward =
    (to: string, status = 307): Answer =>
    (_, response) =>
      void response.writeHead(status, { location: to }).end();

  test.each(["http", "sse"] as const)(
    "on the same origin is followed, with the credentials (%s)",
    async (transport) => {
      const server = await startScripted({ name: "real", transport });
      const real = new URL(server.url);
      const seen: (string | undefined)[] = [];
      const host = await serve((request, response) => {
        if (request.url?.endsWith("/old/"))
          return forward(real.pathname, transport === "sse" ? 302 : 308)(request, response);
        seen.push(request.headers["x-key"] as string);
        const { method, headers, url = "" } = request;
        const onward = httpRequest({ host: real.hostname, port: real.port, path: url, method, headers }, (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        });
        onward.on("error", () => response.destroy());
        request.pipe(onward);
      });
      const entry = { type: transport, url: `http://${host}/old/`, headers: { "X-Key": "k" } };
      const goblin = await startGoblin({ mcpServers: { moved: entry } });
      await until(() => goblin.gateway.servers.status("moved")?.state === "ready");
      const raw = rawHttp(goblin.url);
      await raw.initialize();
      const answer = await raw.call("tools/call", { name: "moved_echo", arguments: { text: "x" } });
      expect(answer.message.result.structuredContent).toEqual({ text: "x" });
      expect(new Set(seen)).toEqual(new Set(["k"]));
    },
  );

  test("to another host is named, not followed", async () => {
    let asked = 0;
    const other = await serve((_, response) => {
      asked++;
      response.end();
    });
    const reason = await reasonFor(forward(`http://${other}/mcp?token=abc`));
    expect(reason).toBe(`redirects to http://${other}/mcp (HTTP 307): if that is right, put it into its "url"`);
    expect(asked).toBe(0);
  });

  test("of a POST that would become a GET is named, not followed", async () => {
    expect(await reasonFor(forward("/new", 301))).toBe(
      'redirects to http://HOST/new (HTTP 301): if that is right, put it into its "url"',
    );
  });

  test("in a circle ends", async () => {
    let asked = 0;
    const reason = await reasonFor((request, response) => {
      asked++;
      forward("/mcp")(request, response);
    });
    expect(reason).toContain("redirects to");
    expect(asked).toBeLessThan(30);
  });

  test("to https on the same host is followed, without the credentials", async () => {
    const seen: (string | undefined)[] = [];
    const secure = await listen(
      createHttpsServer({ key, cert }, (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(401).end();
      }) as unknown as Server,
    );
    const host = await serve(forward(`https://${secure}/mcp`));
    const entry = { type: "http", url: `http://${host}/mcp`, headers: { Authorization: "Bearer abcdef-123456" } };
    const home = await serveHome({ mcpServers: { up: entry } });
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const served = await startServe(home, { NODE_EXTRA_CA_CERTS: trusted });
    await until(() => served.log().includes('"state":"down"'));
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set([undefined]));
    expect(served.log()).toContain(`headers\\" are not sent to https://${secure}; put that address into its`);
  });

  test.each(["http", "sse"])("to https on the same host is followed, without the login (%s)", async (type) => {
    const seen: (string | undefined)[] = [];
    const secure = await listen(
      createHttpsServer({ key, cert }, (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      }) as unknown as Server,
    );
    const given: (string | undefined)[] = [];
    const host = await serve((request, response) => {
      given.push(request.headers.authorization);
      forward(`https://${secure}/mcp`)(request, response);
    });
    const url = `http://${host}/mcp`;
    const home = await serveHome({ mcpServers: { up: { type, url } } });
    const store = await LoginStore.open({ XDG_STATE_HOME: join(home.folder, "state") });
    await store.change((book) => ({ ...book, logins: [loginAt(url)] }));
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const served = await startServe(home, { NODE_EXTRA_CA_CERTS: trusted });
    await until(() => served.log().includes('"state":"down"'));
    expect(new Set(given)).toEqual(new Set(["Bearer abcdef-123456"]));
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set([undefined]));
    expect(served.log()).toContain(`its login is not sent to https://${secure}; put that address into its`);
    expect(served.log()).not.toContain("abcdef-123456");
  });
});

describe("a proxy", () => {
  /** A real little proxy: whatever is asked for, it is at `behind`. */
  async function startProxy(behind: string) {
    const [host, port] = behind.split(":") as [string, string];
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
      const { method, headers, url = "" } = request;
      const onward = httpRequest({ host, port, path: new URL(url).pathname, method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      onward.on("error", () => response.destroy());
      request.pipe(onward);
    });
    proxy.on("connect", (request: IncomingMessage, socket: Socket) => {
      seen.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
      if (request.url?.startsWith("refused")) return void socket.end("HTTP/1.1 407 Who are you\r\n\r\n");
      const onward = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      onward.on("error", () => socket.destroy());
    });
    return { host: await listen(proxy), seen };
  }

  test("carries requests to http servers", async () => {
    const server = await startScripted({ name: "far", transport: "http" });
    const proxy = await startProxy(new URL(server.url).host);
    vi.stubEnv("HTTP_PROXY", `http://me:p%40ss@${proxy.host}`);
    vi.stubEnv("http_proxy", "");
    vi.stubEnv("NO_PROXY", "other.example");
    const goblin = await startGoblin({
      mcpServers: { far: { type: "http", url: "http://far.example/mcp" }, near: server.entry },
    });
    await until(() => goblin.gateway.servers.status("far")?.state === "ready");
    expect(goblin.gateway.servers.status("near")?.state).toBe("ready");
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    const answer = await raw.call("tools/call", { name: "far_echo", arguments: { text: "x" } });
    expect(answer.message.result.structuredContent).toEqual({ text: "x" });
    const login = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect(new Set(proxy.seen.filter((line) => line.startsWith("POST")))).toEqual(
      new Set([`POST http://far.example/mcp ${login}`]),
    );
  });

  test("carries requests to https servers in a tunnel, and its refusal is named", async () => {
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      },
      "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "x".repeat(300_000) }] },
    };
    const secure = createHttpsServer({ key, cert }, async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
      const result = results[method ?? ""];
      if (!result) return void response.writeHead(id === undefined ? 202 : 400).end();
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    const proxy = await startProxy(await listen(secure as unknown as Server));
    const home = await serveHome({
      mcpServers: {
        far: { type: "http", url: "https://far.example/mcp", headers: { Host: "localhost" } },
        refused: { type: "http", url: "https://refused.example/mcp" },
      },
    });
    const trusted = join(home.folder, "cert.pem");
    writeFileSync(trusted, cert);
    const served = await startServe(home, {
      NODE_EXTRA_CA_CERTS: trusted,
      HTTPS_PROXY: `http://user:pass-word@${proxy.host}`,
      https_proxy: "",
      NO_PROXY: "",
      no_proxy: "",
    });
    const raw = rawHttp(served.url);
    await raw.initialize();
    const answer = await raw.call("tools/call", { name: "far_hello", arguments: {} });
    expect(answer.message.result.content[0].text).toHaveLength(300_000);
    const login = `Basic ${Buffer.from("user:pass-word").toString("base64")}`;
    expect(proxy.seen).toContain(`CONNECT far.example:443 ${login}`);
    await until(() => served.log().includes("refused (HTTP 407)"));
    expect(served.log()).toContain(
      `cannot be reached at https://refused.example: the proxy ${proxy.host} refused (HTTP 407)`,
    );
    expect(served.log()).not.toContain("pass-word");
  });
});
