/**
 * The API is the operator's: a client's token does not open it, and it may have an address of its
 * own.
 */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const post = (token: string) => ({
  method: "POST",
  headers: { ...bearer(token), "content-type": "application/json" },
});

test("a client's token reads and does nothing at the API; the operator's does", async () => {
  const gateway = { auth: { tokens: ["client-token-1"] }, admin: { tokens: ["admin-token-1"] } };
  const { origin, url } = await startGoblin({ gateway });
  const status = async (path: string, init: RequestInit) => (await fetch(origin + path, init)).status;
  for (const path of ["/api/state", "/api/sessions", "/api/calls", "/api/logs", "/api/events", "/openapi.json"]) {
    expect(await status(path, { headers: bearer("client-token-1") })).toBe(403);
  }
  for (const path of ["/api/reload", "/api/servers/x/restart", "/api/tools/call"]) {
    expect(await status(path, post("client-token-1"))).toBe(403);
  }
  expect(await status("/api/state", { headers: bearer("admin-token-1") })).toBe(200);
  const answer = await fetch(`${origin}/api/state`, { headers: bearer("client-token-1") });
  expect(await answer.json()).toEqual({
    error: { code: "FORBIDDEN", message: "This token does not open the API: use an admin token" },
  });
  for (const token of ["client-token-1", "admin-token-1"]) {
    const client = rawHttp(url);
    Object.assign(client.headers, bearer(token));
    expect((await client.initialize()).status).toBe(200);
    expect(await status("/metrics", { headers: bearer(token) })).toBe(200);
  }
});

test("it describes itself, at the address that it was asked at", async () => {
  const { origin } = await startGoblin({ gateway: { admin: { tokens: ["admin-token-1"] } } });
  expect((await fetch(`${origin}/openapi.json`)).status).toBe(401);
  const answer = await fetch(`${origin}/openapi.json`, { headers: bearer("admin-token-1") });
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(await answer.json()).toMatchObject({ openapi: "3.1.0", servers: [{ url: origin }] });
});

test("with tokens for clients and none for admins it is closed, and names the key", async () => {
  const { origin } = await startGoblin({ gateway: { auth: { tokens: ["client-token-1"] } } });
  const answer = await fetch(`${origin}/api/state`, { headers: bearer("client-token-1") });
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain("gateway.admin.tokens");
});

test("without tokens it is open as before", async () => {
  const { origin, adminUrl } = await startGoblin({});
  expect(adminUrl).toBeUndefined();
  expect((await fetch(`${origin}/api/state`)).status).toBe(200);
});

test("at an address of its own there is the API and nothing else, and no API elsewhere", async () => {
  const { origin, adminUrl } = await startGoblin({ gateway: { admin: { port: 0, tokens: ["admin-token-1"] } } });
  const own = new URL(adminUrl!).origin;
  expect(own).not.toBe(origin);
  const status = async (address: string) => (await fetch(address, { headers: bearer("admin-token-1") })).status;
  expect(await status(`${own}/api/state`)).toBe(200);
  expect(await status(`${own}/openapi.json`)).toBe(200);
  expect(await status(`${origin}/openapi.json`)).toBe(404);
  expect(await status(`${own}/metrics`)).toBe(200);
  expect(await status(`${own}/health`)).toBe(200);
  expect(await status(`${own}/mcp`)).toBe(404);
  expect(await status(`${own}/sse`)).toBe(404);
  expect(await status(`${origin}/api/state`)).toBe(404);
  expect(await status(`${origin}/metrics`)).toBe(404);
  expect(await status(`${origin}/health`)).toBe(200);
  expect((await fetch(`${own}/api/state`)).status).toBe(401);
  const moved = await (await fetch(`${origin}/api/state`)).json();
  expect(moved).toMatchObject({ error: { message: expect.stringContaining("gateway.admin") } });
});

test("when its address is taken, nothing listens", async () => {
  const first = await startGoblin({ gateway: { admin: { port: 0 } } });
  const port = Number(new URL(first.adminUrl!).port);
  await expect(startGoblin({ gateway: { admin: { port } } })).rejects.toMatchObject({ code: "EADDRINUSE", port });
});
