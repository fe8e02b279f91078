/** The life of a grant: streams and sessions end with it, and it survives a restart. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { withoutGrants } from "../../src/auth/pairing/grants.ts";
import { Pairing } from "../../src/auth/pairing/pairing.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { Browser, handMade, paired, startPaired, type Tokens } from "../fixtures/pairing.ts";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

test("the challenge and the metadata lead to the gateway itself", async () => {
  const { issuer, goblin } = await startPaired();
  const answer = await fetch(goblin.url, { method: "POST", body: "{}" });
  const metadata = `${issuer}/.well-known/oauth-protected-resource/mcp`;
  expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer realm="goblin", resource_metadata="${metadata}"`,
  ]);
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource: goblin.url,
    authorization_servers: [issuer],
  });
  for (const path of ["oauth-authorization-server", "openid-configuration"]) {
    const found = await fetch(`${issuer}/.well-known/${path}`);
    expect(found.headers.get("access-control-allow-origin")).toBe("*");
    expect(await found.json()).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
    });
    expect((await fetch(`${issuer}/.well-known/${path}/elsewhere`)).status).toBe(404);
  }
});

test("a revoked grant ends its streams and sessions at once, and no others", async () => {
  const gateway = await startPaired();
  const open = async () => {
    const { tokens, clientId } = await paired(gateway);
    const client = rawHttp(gateway.goblin.url);
    client.headers = { authorization: `Bearer ${tokens.access_token}` };
    await client.initialize();
    const stream = await client.stream({ verb: "GET" });
    return { client, stream, clientId };
  };
  const [ended, kept] = [await open(), await open()];
  const { grants } = await gateway.store.read();
  const grant = grants.find(({ clientId }) => clientId === ended.clientId)!;
  // As another process does it: the gateway follows the file.
  await gateway.store.change((book) => withoutGrants(book, [grant.id]));
  await until(() => ended.stream.ended, { what: "the stream to end" });
  const answer = await ended.client.post({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toMatch(/error="invalid_token".*resource_metadata="/);
  expect((await kept.client.post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).status).toBe(200);
  expect(kept.stream.ended).toBe(false);
});

test("grants and tokens survive a restart, in a file that only its user can read", async () => {
  const before = await startPaired();
  const { tokens, clientId } = await paired(before);
  expect(statSync(before.store.path).mode & 0o777).toBe(0o600);
  const port = new URL(before.issuer).port;
  await before.goblin.gateway.close();
  const after = await startPaired({ env: before.env, gateway: { publicUrl: `http://127.0.0.1:${port}` } });
  // It listens elsewhere, as if a proxy led to it.
  const client = rawHttp(after.goblin.url);
  client.headers = { authorization: `Bearer ${tokens.access_token}` };
  expect((await client.initialize()).status).toBe(200);
  const renewed = await handMade({ issuer: after.goblin.origin }).refresh(clientId, tokens.refresh_token);
  expect(((await renewed.json()) as Tokens).refresh_token).toMatch(/^gr\./);
});

test("turned off by a reload, it lets nobody in and has no endpoints", async () => {
  const gateway = await startPaired();
  const { tokens } = await paired(gateway);
  await gateway.reload({ auth: { tokens: ["another-token-of-the-config"] } });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  expect((await fetch(gateway.goblin.url, { method: "POST", headers, body: "{}" })).status).toBe(401);
  for (const path of ["/oauth/jwks", "/oauth/authorize", "/.well-known/oauth-authorization-server"])
    expect((await fetch(gateway.issuer + path)).status).toBe(404);
  await gateway.reload();
  await until(async () => (await fetch(gateway.goblin.url, { method: "POST", headers, body: "{}" })).status !== 401, {
    what: "the token to be good again",
  });
});

test("a browser's page of another host is not served", async () => {
  const { issuer } = await startPaired();
  const { port } = new URL(issuer);
  const raw = await import("node:http").then(
    ({ request }) =>
      new Promise<number>((resolve) => {
        const sent = request({ port, host: "127.0.0.1", path: "/oauth/authorize", headers: { host: "evil.example" } });
        sent.on("response", (answer) => resolve(answer.statusCode ?? 0));
        sent.end();
      }),
  );
  expect(raw).toBe(403);
});

test("without a state folder nobody is let in, and the answer says that it is the gateway's fault", async () => {
  const good = await startPaired();
  const { tokens } = await paired(good);
  const file = join(good.env["XDG_STATE_HOME"]!, "file");
  writeFileSync(file, "");
  const pairing = new Pairing({ env: { XDG_STATE_HOME: file }, warn: () => {} });
  const gateway = { publicUrl: good.issuer, auth: { pairing: true } };
  const goblin = await startGoblin({ mcpServers: {}, gateway }, { pairing });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  expect((await fetch(goblin.url, { method: "POST", headers, body: "{}" })).status).toBe(503);
  expect((await fetch(`${goblin.origin}/oauth/jwks`)).status).toBe(503);
});

test("a client that was limited to a profile sees nothing else", async () => {
  const gateway = await startPaired({
    withServer: true,
    profiles: { echoes: { tools: { allow: ["echo"] } }, empty: { tools: { deny: ["*"] } } },
  });
  const client = handMade(gateway);
  const id = await client.register();
  const exchange = (location: URL) =>
    fetch(`${gateway.issuer}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: id,
        code_verifier: client.verifier,
        code: location.searchParams.get("code")!,
      }),
    });
  const toolsOf = async (url: URL, fields: Record<string, string> = {}, path = "/mcp") => {
    const location = await new Browser().consent(url, await gateway.code(), fields);
    const answer = await exchange(location);
    const { access_token: token } = (await answer.json()) as Tokens;
    const raw = rawHttp(gateway.issuer + path);
    raw.headers = { authorization: `Bearer ${token}` };
    if ((await raw.initialize()).status !== 200) return undefined;
    const { message } = await raw.call("tools/list");
    return (message.result.tools as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name.startsWith("one_"));
  };
  const url = client.authorizationUrl(id);
  expect(await (await new Browser().get(url)).text()).toMatch(/type="radio" name="profile" value="echoes">/);
  expect((await toolsOf(url))!.length).toBeGreaterThan(1);
  expect(await toolsOf(url, { profile: "echoes" })).toEqual(["one_echo"]);
  expect(await toolsOf(url, { profile: "echoes" }, "/mcp/p/empty")).toBeUndefined();
  await expect(toolsOf(url, { profile: "nothing" })).rejects.toThrow("HTTP 400");
  // One that asks for a profile's endpoint gets no more than that, whatever a form says.
  const own = client.authorizationUrl(id, { resource: `${gateway.issuer}/mcp/p/echoes` });
  expect(await (await new Browser().get(own)).text()).not.toContain('type="radio"');
  expect(await toolsOf(own, { profile: "empty" })).toEqual(["one_echo"]);
  for (const path of ["/mcp/p/nothing", "/mcp/x/echoes", "/mcp/p/echoes/more", "/mcp.evil/p/echoes"]) {
    const answer = await new Browser().get(client.authorizationUrl(id, { resource: gateway.issuer + path }));
    expect([path, answer.status]).toEqual([path, 400]);
  }
  // A-L9: one that asks for a server's endpoint gets that one alone.
  const server = client.authorizationUrl(id, { resource: `${gateway.issuer}/mcp/s/one` });
  const asked = await (await new Browser().get(server)).text();
  expect(asked).toContain("<dd>the server one</dd>");
  expect(asked).not.toContain('type="radio"');
  const initialized = async (path: string): Promise<number> => {
    const location = await new Browser().consent(server, await gateway.code(), { profile: "echoes" });
    const { access_token: token } = (await (await exchange(location)).json()) as Tokens;
    const raw = rawHttp(gateway.issuer + path);
    raw.headers = { authorization: `Bearer ${token}` };
    return (await raw.initialize()).status;
  };
  expect(await initialized("/mcp/s/one")).toBe(200);
  for (const path of ["/mcp", "/mcp/s/other", "/mcp/p/echoes"])
    expect([path, await initialized(path)]).toEqual([path, 401]);
});
