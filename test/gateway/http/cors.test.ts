/**
 * Browsers: pages of allowed origins get through, with everything that they must be told; all
 * others are told nothing.
 */
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const APP = "https://app.example";
const allowing = { allowedOrigins: [APP], auth: { tokens: ["client-token-1"] }, admin: { tokens: ["admin-token-1"] } };
const PATHS = ["/mcp", "/sse", "/messages", "/api/state", "/api/servers/x/restart"];

function corsOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"));
}

const asks = (origin: string, headers = "content-type, mcp-param-City"): RequestInit => ({
  method: "OPTIONS",
  headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": headers },
});

test.each(PATHS)("a preflight of an allowed origin on %s is answered without a token", async (path) => {
  const { origin } = await startGoblin({ gateway: allowing });
  const answer = await fetch(origin + path, asks(APP));
  expect(answer.status).toBe(204);
  expect(corsOf(answer.headers)).toEqual({
    "access-control-allow-origin": APP,
    "access-control-allow-methods": "GET, POST, PUT, DELETE",
    "access-control-allow-headers":
      "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, mcp-param-city",
    "access-control-expose-headers": "Mcp-Session-Id",
    "access-control-max-age": "600",
    vary: "Origin",
  });
});

test.each(PATHS)("on %s other origins are told nothing, not even local ones", async (path) => {
  const { origin } = await startGoblin({ gateway: allowing });
  for (const [from, status] of [
    ["https://evil.example", 403],
    [`${APP}.evil.example`, 403],
    ["http://localhost:5173", 401],
  ] as const) {
    const answer = await fetch(origin + path, asks(from));
    expect([from, answer.status, corsOf(answer.headers)]).toEqual([from, status, {}]);
  }
});

test("headers that nobody needs are not allowed, whatever is asked for", async () => {
  const { origin } = await startGoblin({ gateway: allowing });
  const answer = await fetch(`${origin}/mcp`, asks(APP, "cookie, x-evil, mcp-param-a b, mcp-param-ok"));
  const allowed = answer.headers.get("access-control-allow-headers")!.split(", ");
  expect(allowed.filter((name) => /cookie|evil|param/.test(name))).toEqual(["mcp-param-ok"]);
});

describe("answers", () => {
  const told = {
    "access-control-allow-origin": APP,
    "access-control-expose-headers": "Mcp-Session-Id",
    vary: "Origin",
  };

  test("to a page of an allowed origin say so: handshake, stream, end, stateless, refusals, API", async () => {
    const { url, origin, sseUrl } = await startGoblin({ gateway: allowing });
    const client = rawHttp(url);
    Object.assign(client.headers, { origin: APP, authorization: "Bearer client-token-1" });
    const opened = await client.initialize();
    expect(corsOf(opened.headers)).toEqual(told);
    expect(opened.headers.get("mcp-session-id")).toBeTruthy();
    expect(corsOf((await client.stream({})).headers)).toEqual(told);
    expect(corsOf((await client.delete()).headers)).toEqual(told);
    const sse = rawHttp(sseUrl);
    sse.headers = { origin: APP, authorization: "Bearer client-token-1" };
    expect(corsOf((await sse.stream({})).headers)).toEqual(told);
    const modern = stateless(url, { token: "client-token-1" });
    const listed = await modern.call("tools/list", {}, { headers: { origin: APP } });
    expect([listed.status, corsOf(listed.headers)]).toEqual([200, told]);
    const refused = await fetch(url, { method: "POST", headers: { origin: APP }, body: "{}" });
    expect([refused.status, corsOf(refused.headers)]).toEqual([401, told]);
    const api = await fetch(`${origin}/api/state`, { headers: { origin: APP, authorization: "Bearer admin-token-1" } });
    expect([api.status, corsOf(api.headers)]).toEqual([200, told]);
    const closed = await fetch(`${origin}/api/state`, { headers: { origin: APP } });
    expect([closed.status, corsOf(closed.headers)]).toEqual([401, told]);
    const healthy = await fetch(`${origin}/health`, { headers: { origin: APP } });
    expect([healthy.status, corsOf(healthy.headers)]).toEqual([200, told]);
  });

  test("to everybody else say nothing of it", async () => {
    const { url } = await startGoblin({ gateway: { allowedOrigins: [APP] } });
    for (const origin of [undefined, "http://localhost:5173"]) {
      const client = rawHttp(url);
      if (origin) client.headers["origin"] = origin;
      const { status, headers } = await client.initialize();
      expect([status, corsOf(headers)]).toEqual([200, {}]);
    }
  });

  test("in process are the same", async () => {
    const { gateway } = await startGoblin({ gateway: { allowedOrigins: [APP] } });
    const at = (path: string, init: RequestInit) => {
      const headers = { host: "localhost", ...(init.headers as Record<string, string>) };
      return gateway.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
    };
    expect((await at("/mcp", asks(APP))).status).toBe(204);
    const answer = await at("/mcp", { method: "POST", headers: { origin: APP }, body: "{}" });
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP);
  });
});

/** `fetch` does not let a Host header through. */
function statusOf(origin: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, origin), { headers }, (answer) => resolve(answer.resume().statusCode));
    sent.on("error", reject);
    sent.end();
  });
}

test.each(["/health", "/ready", "/metrics", "/api/state", "/mcp", "/sse"])(
  "a foreign Host or Origin is refused on %s",
  async (path) => {
    const { origin } = await startGoblin({});
    expect(await statusOf(origin, path, { host: "evil.example" })).toBe(403);
    // What is no URL with its path is refused before anybody asks the guard.
    expect([400, 403]).toContain(await statusOf(origin, path, { host: "[::1].evil.example" }));
    expect(await statusOf(origin, path, { origin: "https://evil.example" })).toBe(403);
  },
);
