import { decodeJwt } from "jose";
import { afterEach, expect, test } from "vitest";
import { connectV1 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type ExchangeServer, startExchange } from "../fixtures/exchange.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { startScripted } from "../fixtures/scripted.ts";

afterEach(disposeAll);

const AUDIENCE = "https://goblin.example/mcp";
const secret = { clientId: "goblin", clientSecret: "s3cret-of-goblin" };

interface Scene {
  readonly idp: ExchangeServer;
  readonly authorization: ExchangeServer;
  readonly guarded: GuardedServer;
  readonly goblin: RunningGoblin;
}

/** `isOne`: the callers' identity provider is the server's authorization server too. */
async function scene(isOne: boolean, auth: (idp: string, resource: string) => Record<string, unknown>): Promise<Scene> {
  const idp = await startExchange();
  const authorization = isOne ? idp : await startExchange();
  const behind = await startScripted({ transport: "http" });
  const guarded = await startGuarded({ behind: behind.url, issuer: authorization.url });
  const given = { as: "caller", issuer: authorization.url, ...secret, ...auth(idp.url, guarded.url) };
  const oauth = { issuers: [{ issuer: idp.url, audience: [AUDIENCE] }] };
  const goblin = await startGoblin(
    { mcpServers: { remote: { url: guarded.url, auth: given } }, gateway: { auth: { oauth } } },
    { logins: await loginsOf(stateEnv()) },
  );
  return { idp, authorization, guarded, goblin };
}

async function echo({ goblin }: Scene, token: string): Promise<unknown> {
  const { client } = await connectV1({ url: goblin.url, headers: { authorization: `Bearer ${token}` } });
  return ((await client.callTool({ name: "remote_echo", arguments: { text: "hi" } })) as { content: unknown }).content;
}
const answered = [{ type: "text", text: '{"text":"hi"}' }];
const asked = ({ asked: forms }: ExchangeServer) => forms.map((form) => Object.fromEntries(form));

test.each([
  {
    grant: "token_exchange",
    auth: () => ({ grant: "token_exchange" }),
    expected: (token: string, resource: string) => ({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
      resource,
    }),
  },
  {
    grant: "on_behalf_of",
    auth: (_: string, resource: string) => ({ grant: "on_behalf_of", resource: false, scopes: [resource] }),
    expected: (token: string, resource: string) => ({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: token,
      requested_token_use: "on_behalf_of",
      scope: resource,
    }),
  },
])("$grant: a caller's token becomes one for the server, which never sees the first", async ({ auth, expected }) => {
  const here = await scene(true, auth);
  const [alice, bob] = await Promise.all([here.idp.sign("alice", AUDIENCE), here.idp.sign("bob", AUDIENCE)]);
  expect(await echo(here, alice)).toEqual(answered);
  const client = { client_id: "goblin", client_secret: "s3cret-of-goblin" };
  expect(asked(here.idp)).toEqual([{ ...expected(alice, here.guarded.url), ...client }]);
  expect(await echo(here, alice)).toEqual(answered);
  expect(here.idp.asked).toHaveLength(1);
  expect(await echo(here, bob)).toEqual(answered);
  expect([...here.guarded.tokens].map((token) => decodeJwt(token).sub)).toEqual(["alice", "bob"]);
  expect(here.guarded.tokens.has(alice) || here.guarded.tokens.has(bob)).toBe(false);
  here.guarded.expire();
  expect(await echo(here, alice)).toEqual(answered);
  expect(here.idp.asked).toHaveLength(3);
  const shown = JSON.stringify(here.goblin.logs);
  for (const hidden of [alice, bob, ...here.guarded.tokens, "s3cret-of-goblin"]) expect(shown).not.toContain(hidden);
});

test("id_jag: the identity provider vouches for the caller, and the server's own authorization server gives the token", async () => {
  // The secret at the identity provider is only referred to.
  const clientSecret = `\${cmd:"${process.execPath}" -p "'s3cret-of-goblin'"}`;
  const here = await scene(false, (issuer) => ({ grant: "id_jag", idp: { issuer, ...secret, clientSecret } }));
  const alice = await here.idp.sign("alice", AUDIENCE);
  expect(await echo(here, alice)).toEqual(answered);
  expect(asked(here.idp)).toMatchObject([
    {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      subject_token: alice,
      audience: here.authorization.url,
      resource: here.guarded.url,
    },
  ]);
  expect(asked(here.idp)).toMatchObject([{ client_secret: "s3cret-of-goblin" }]);
  const [second] = asked(here.authorization);
  expect(second).toMatchObject({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer" });
  expect(decodeJwt(second!["assertion"]!)).toMatchObject({ iss: here.idp.url, sub: "alice" });
  expect(JSON.stringify(asked(here.authorization))).not.toContain(alice);
});

test("a refusal names server, step and remedy", async () => {
  const here = await scene(true, () => ({ grant: "token_exchange" }));
  here.idp.error = "invalid_target";
  const token = await here.idp.sign("alice", AUDIENCE);
  await expect(echo(here, token)).rejects.toMatchObject({
    message: expect.stringMatching(
      /Login to server "remote": getting a token at http\S+\/token: the authorization server answered "invalid_target"\. Set "auth\.resource"/,
    ),
  });
});
