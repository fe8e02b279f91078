import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { connectV1 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { startMalicious } from "../fixtures/malicious.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const machine = {
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  scope: "mcp:use mcp:admin",
};
const clients = [
  { ...machine, client_id: "with-secret", client_secret: "s3cret", token_endpoint_auth_method: "client_secret_basic" },
  {
    ...{ ...machine, client_id: "with-key", token_endpoint_auth_method: "private_key_jwt" },
    jwks: { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "mine", alg: "ES256", use: "sig" }] },
    token_endpoint_auth_signing_alg: "ES256",
  },
];
const grant = "client_credentials";
const ways = [
  { what: "a secret", auth: { grant, clientId: "with-secret", clientSecret: "s3cret" } },
  { what: "a key", auth: { grant, clientId: "with-key", privateKey: pem, keyId: "mine" } },
];

interface Scene {
  readonly guarded: GuardedServer;
  readonly env: { XDG_STATE_HOME: string };
  /** The grant types of all token requests so far. */
  readonly grants: string[];
  start(auth: Record<string, unknown>): Promise<RunningGoblin>;
}

async function scene(): Promise<Scene> {
  const [oidc, behind] = await Promise.all([
    startOidc({ clients: clients as never, features: { clientCredentials: { enabled: true } } }),
    startScripted({ transport: "http" }),
  ]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const grants: string[] = [];
  oidc.intercept = (request) => {
    if (request.url === "/token") grants.push(request.url);
    return false;
  };
  const env = stateEnv();
  const start = async (auth: Record<string, unknown>) =>
    startGoblin(
      { mcpServers: { remote: { url: guarded.url, auth: { issuer: oidc.url, ...auth } } } },
      { logins: await loginsOf(env) },
    );
  return { guarded, env, grants, start };
}

const echo = async ({ url }: RunningGoblin, text = "hello"): Promise<unknown> => {
  const { client } = await connectV1({ url });
  return ((await client.callTool({ name: "remote_echo", arguments: { text } })) as { content: unknown }).content;
};
const answered = (text: string) => [{ type: "text", text: JSON.stringify({ text }) }];

describe.each(ways)("tokens for the gateway itself, with $what", ({ auth }) => {
  test("need nobody who logs in, now or at their end", async () => {
    const here = await scene();
    const goblin = await here.start(auth);
    expect(await echo(goblin)).toEqual(answered("hello"));
    here.guarded.expire();
    await Promise.all(Array.from({ length: 10 }, () => echo(goblin)));
    expect(here.grants).toHaveLength(2);
    expect(JSON.stringify(goblin.logs)).not.toMatch(/s3cret|BEGIN PRIVATE/);
  });
});

test("two gateways on one store share the tokens", async () => {
  const here = await scene();
  const both = await Promise.all([here.start(ways[0]!.auth), here.start(ways[0]!.auth)]);
  await Promise.all(both.map((goblin) => echo(goblin)));
  expect(here.grants).toHaveLength(1);
  expect((await (await LoginStore.open(here.env)).read()).logins).toMatchObject([{ principal: "" }]);
});

test("a call that needs more scopes gets a token with all of them", async () => {
  const here = await scene();
  const goblin = await here.start(ways[0]!.auth);
  await echo(goblin);
  here.guarded.needs.set("secret word", "mcp:admin");
  expect(await echo(goblin, "secret word")).toEqual(answered("secret word"));
  expect((await (await LoginStore.open(here.env)).read()).logins[0]?.scopes).toEqual(["mcp:use", "mcp:admin"]);
  expect(goblin.gateway.servers.status("remote")?.state).toBe("ready");
});

test("a wrong secret is named, and not asked with again and again", async () => {
  const here = await scene();
  const goblin = await here.start({ ...ways[0]!.auth, clientSecret: "wrong" });
  await until(() => goblin.gateway.servers.status("remote")?.state === "down");
  expect(goblin.gateway.servers.status("remote")?.reason).toMatch(
    /^Login to server "remote": getting a token at http\S+: the authorization server answered "invalid_client"\. Check "auth\.clientId"/,
  );
});

test("A-H3: a server that names another issuer than the config gets no secret sent there", async () => {
  const server = await startMalicious();
  const issuer = "https://issuer.example.com";
  const auth = { ...ways[0]!.auth, issuer };
  const goblin = await startGoblin(
    { mcpServers: { remote: { url: server.url, auth } } },
    { logins: await loginsOf(stateEnv()) },
  );
  await until(() => goblin.gateway.servers.status("remote")?.state === "down");
  expect(goblin.gateway.servers.status("remote")?.reason).toBe(
    `Login to server "remote": choosing the authorization server: the server names ${server.origin}, but the config has the issuer ${issuer}. If the server is right, and you trust what it names, change "auth.issuer" in its config.`,
  );
  expect(server.tokenRequests).toEqual([]);
});
