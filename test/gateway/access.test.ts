/**
 * Who is let in: Host and Origin checks, bearer tokens, sessions that belong to the principal
 * that opened them. No token ever leaves the gateway.
 */
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

/** `fetch` does not let a Host header through. */
function statusFor(url: string, headers: Record<string, string>, path = "/mcp"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const all = { "content-type": "application/json", accept: "application/json", ...headers };
    const sent = request(new URL(path, url), { method: "POST", headers: all }, (answer) =>
      resolve(answer.resume().statusCode),
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(ping));
  });
}

describe("names", () => {
  test("a foreign Host or Origin is 403 on every path, before anything else is looked at", async () => {
    const goblin = await startGoblin({
      mcpServers: {},
      gateway: { allowedHosts: ["goblin.internal"], allowedOrigins: ["https://app.example"] },
    });
    for (const path of ["/mcp", "/messages?sessionId=x"]) {
      const at = (headers: Record<string, string>) => statusFor(goblin.origin, headers, path);
      const served = path === "/mcp" ? 400 : 404;
      expect(await at({ host: "evil.example" })).toBe(403);
      expect(await at({ host: "127.0.0.1.evil.example" })).toBe(403);
      expect([400, 403]).toContain(await at({ host: "[::1].evil.example" }));
      expect(await at({ host: "localhost:9999" })).toBe(served);
      expect(await at({ host: "goblin.internal:80" })).toBe(served);
      expect(await at({ origin: "https://evil.example" })).toBe(403);
      expect(await at({ origin: "null" })).toBe(403);
      expect(await at({ origin: "https://app.example" })).toBe(served);
      expect(await at({ origin: "http://localhost:5173" })).toBe(served);
    }
    expect((await rawHttp(goblin.sseUrl).send({ headers: { origin: "https://evil.example" } })).status).toBe(403);
    const api = rawHttp(goblin.url);
    expect((await api.send({ verb: "GET", headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await api.send({ verb: "DELETE", headers: { origin: "https://evil.example" } })).status).toBe(403);
  });
});

describe("tokens", () => {
  const auth = { gateway: { auth: { tokens: ["alpha", "beta"] } } };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test("without a valid one everything is 401 and says how to come in", async () => {
    const goblin = await startGoblin({ mcpServers: {}, ...auth });
    const client = rawHttp(goblin.url);
    for (const authorization of [
      null,
      "Bearer",
      "Bearer ",
      "Bearer wrong",
      "Bearer alphabet",
      "Basic alpha",
      "alpha",
    ]) {
      const { status, headers } = await client.post(ping, { authorization });
      expect([authorization, status, headers.get("www-authenticate")]).toEqual([
        authorization,
        401,
        'Bearer realm="goblin"',
      ]);
    }
    expect((await client.send({ verb: "GET" })).status).toBe(401);
    expect((await rawHttp(goblin.sseUrl).send({})).status).toBe(401);
    expect((await rawHttp(`${goblin.origin}/messages?sessionId=x`).post(ping)).status).toBe(401);
    expect((await rawHttp(`${goblin.origin}/health`).send({})).status).toBe(200);
    client.headers = bearer("beta");
    expect((await client.initialize()).status).toBe(200);
  });

  test("a session is not there for anybody else", async () => {
    const goblin = await startGoblin({ mcpServers: {}, ...auth });
    const alpha = rawHttp(goblin.url);
    alpha.headers = bearer("alpha");
    await alpha.initialize();
    const thief = rawHttp(goblin.url);
    thief.headers = { ...alpha.headers, ...bearer("beta") };
    expect((await thief.post(ping)).status).toBe(404);
    expect((await thief.send({ verb: "GET" })).status).toBe(404);
    expect((await thief.delete()).status).toBe(404);
    expect((await alpha.post(ping)).status).toBe(200);

    const sse = rawHttp(goblin.sseUrl);
    sse.headers = bearer("alpha");
    const stream = await sse.stream({ verb: "GET" });
    const messages = rawHttp(`${goblin.origin}${await until(() => stream.events[0]?.data)}`);
    expect((await messages.post(ping, bearer("beta"))).status).toBe(404);
    expect((await messages.post(ping, bearer("alpha"))).status).toBe(202);
  });

  test.each(["http", "sse"] as const)(
    "a client's token and headers never reach a server over %s",
    async (transport) => {
      const backend = await startScripted({ transport, name: "one" });
      const entry = { ...backend.entry, headers: { "x-own": "from the config" } };
      const goblin = await startGoblin({ mcpServers: { one: entry }, ...auth });
      const headers = { ...bearer("alpha"), cookie: "secret=1", "x-client": "private" };
      const { client } = await connectV1({ url: goblin.url, headers });
      await client.callTool({ name: "one_echo", arguments: { text: "hi" } });
      const requests = await backend.events("http");
      expect(requests.length).toBeGreaterThan(3);
      for (const { headers: seen } of requests) {
        expect(seen["x-own"]).toBe("from the config");
        expect(JSON.stringify(seen)).not.toMatch(/alpha|secret|private/);
      }
      expect(JSON.stringify(await backend.log())).not.toContain("alpha");
      expect(JSON.stringify(goblin.logs)).not.toContain("alpha");
    },
  );

  test("an SDK client with a token is served over both transports", async () => {
    const goblin = await startGoblin({ mcpServers: {}, ...auth });
    for (const way of [{ url: goblin.url }, { sseUrl: goblin.sseUrl }]) {
      const { client } = await connectV1({ ...way, headers: bearer("alpha") });
      await client.ping();
    }
  });
});
