/**
 * SDK clients of both generations get in by themselves: 401, metadata, registration, login, code,
 * token, call; and again with a refreshed token, in the same session.
 */
import * as v2 from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { oauthMemory } from "../../fixtures/oauth-client.ts";
import { startOidc } from "../../fixtures/oidc.ts";
import { disposeAll, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

async function start() {
  const server = await startOidc();
  const one = await startScripted({ name: "one" });
  const goblin = await startGoblin({ mcpServers: { one: one.entry }, gateway: { port: 0 } });
  // The audience depends on the port, which is known now.
  const { parseConfig } = await import("../../../src/config/reading/parse.ts");
  const auth = { oauth: { issuers: [{ issuer: server.url, audience: [goblin.url], requiredScopes: ["mcp:use"] }] } };
  const text = JSON.stringify({ mcpServers: { one: one.entry }, gateway: { port: 0, auth } });
  await goblin.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
  return { server, goblin };
}

test("SDK v1", async () => {
  const { server, goblin } = await start();
  const { provider, callback, kept } = oauthMemory((url) => server.login(url, "alice"));
  const connect = () => {
    const transport = new HttpV1(new URL(goblin.url), { authProvider: provider as never });
    return { transport, client: new ClientV1({ name: "v1", version: "1" }) };
  };
  const first = connect();
  await expect(first.client.connect(first.transport)).rejects.toThrow();
  await first.transport.finishAuth(callback().get("code")!);
  const { client, transport } = connect();
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  const before = kept["tokens"] as { access_token: string; refresh_token: string };
  expect(before.refresh_token).toBeDefined();
  // An access token that is refused is renewed with the refresh token, and the session goes on.
  kept["tokens"] = { ...before, access_token: "spoilt" };
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  expect((kept["tokens"] as { access_token: string }).access_token).not.toBe(before.access_token);
  await client.close();
});

test("SDK v2", async () => {
  const { server, goblin } = await start();
  const { provider, callback } = oauthMemory((url) => server.login(url, "bob"));
  const connect = () => {
    const transport = new v2.StreamableHTTPClientTransport(new URL(goblin.url), { authProvider: provider as never });
    return { transport, client: new v2.Client({ name: "v2", version: "1" }) };
  };
  const first = connect();
  await expect(first.client.connect(first.transport)).rejects.toThrow();
  await first.transport.finishAuth(callback());
  const { client, transport } = connect();
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  await client.close();
});
