/**
 * SDK clients of both generations pair with the gateway by themselves: 401, metadata, registration
 * or document, the person's code, tokens, call; and again with a renewed token.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as v2 from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as jose from "jose";
import { afterEach, expect, test } from "vitest";
import { onDispose } from "../fixtures/dispose.ts";
import { oauthMemory } from "../fixtures/oauth-client.ts";
import { Browser, type Paired, startPaired } from "../fixtures/pairing.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const person = (gateway: Paired) => async (url: URL) => new Browser().consent(url, await gateway.code());

test("SDK v1, registered", async () => {
  const gateway = await startPaired({ withServer: true });
  const { provider, callback, kept } = oauthMemory(person(gateway));
  const connect = () => {
    const transport = new HttpV1(new URL(gateway.goblin.url), { authProvider: provider as never });
    return { transport, client: new ClientV1({ name: "v1", version: "1" }) };
  };
  const first = connect();
  await expect(first.client.connect(first.transport)).rejects.toThrow();
  await first.transport.finishAuth(callback().get("code")!);
  const { client, transport } = connect();
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  const before = kept["tokens"] as { access_token: string; refresh_token: string };
  const { payload, protectedHeader } = await jose.jwtVerify(
    before.access_token,
    jose.createRemoteJWKSet(new URL(`${gateway.issuer}/oauth/jwks`)),
  );
  expect(protectedHeader).toMatchObject({ alg: "ES256", typ: "at+jwt" });
  expect(payload).toMatchObject({ iss: gateway.issuer, aud: gateway.goblin.url, scope: "mcp" });
  expect(payload.exp! - payload.iat!).toBe(600);
  // A token that is refused is renewed, and the session goes on.
  kept["tokens"] = { ...before, access_token: "spoilt" };
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  const after = kept["tokens"] as { access_token: string; refresh_token: string };
  expect(after.refresh_token).not.toBe(before.refresh_token);
  await client.close();
});

test("SDK v2, registered", async () => {
  const gateway = await startPaired({ withServer: true });
  const { provider, callback } = oauthMemory(person(gateway));
  const connect = () => {
    const transport = new v2.StreamableHTTPClientTransport(new URL(gateway.goblin.url), {
      authProvider: provider as never,
    });
    return { transport, client: new v2.Client({ name: "v2", version: "1" }) };
  };
  const first = connect();
  await expect(first.client.connect(first.transport)).rejects.toThrow();
  expect(callback().get("iss")).toBe(gateway.issuer);
  await first.transport.finishAuth(callback());
  const { client, transport } = connect();
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  await client.close();
});

test("SDK v2, with a metadata document, on another port each time", async () => {
  const document = { client_name: "Documented", redirect_uris: ["http://127.0.0.1/callback"] };
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ client_id: clientId, token_endpoint_auth_method: "none", ...document }));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  onDispose(() => void site.close());
  const clientId = `http://127.0.0.1:${(site.address() as AddressInfo).port}/client.json`;
  const gateway = await startPaired({ withServer: true, privateHosts: ["127.0.0.1"] });
  // The SDK takes only https documents, so the id is given as a registration.
  const { provider, callback } = oauthMemory(person(gateway), {
    clientInformation: () => ({ client_id: clientId }),
    redirectUrl: "http://127.0.0.1:4711/callback",
  });
  const transport = new v2.StreamableHTTPClientTransport(new URL(gateway.goblin.url), {
    authProvider: provider as never,
  });
  await expect(new v2.Client({ name: "v2", version: "1" }).connect(transport)).rejects.toThrow();
  await transport.finishAuth(callback());
  const client = new v2.Client({ name: "v2", version: "1" });
  await client.connect(
    new v2.StreamableHTTPClientTransport(new URL(gateway.goblin.url), { authProvider: provider as never }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("one_echo");
  await client.close();
  expect((await gateway.store.read()).grants).toMatchObject([{ clientId, clientName: "Documented" }]);
});
