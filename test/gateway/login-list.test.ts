/** The logins at servers through the API: their list, new ones, and their end. */
import { afterEach, expect, test } from "vitest";
import type { LoginRow } from "../../src/admin/api/logins/schema.ts";
import { LoginStore } from "../../src/auth/login/store.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { logIn, loginsOf, stateEnv, targetOf } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const JSON_TYPE = { "content-type": "application/json" };

async function scene() {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  const mcpServers = { remote: { url: guarded.url }, local: (await startScripted({ name: "local" })).entry };
  const goblin = await startGoblin({ mcpServers }, { logins: await loginsOf(env) });
  const list = async (): Promise<LoginRow[]> =>
    ((await (await fetch(`${goblin.origin}/api/logins`)).json()) as { items: LoginRow[] }).items;
  const out = (id: string, body: unknown) =>
    fetch(`${goblin.origin}/api/servers/${id}/logout`, {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    });
  return { oidc, guarded, env, goblin, list, out };
}

test("a login is listed without its tokens, and is over everywhere after a logout", async () => {
  const { oidc, guarded, env, goblin, list, out } = await scene();
  expect(await list()).toMatchObject([
    {
      serverId: "remote",
      owner: null,
      who: null,
      state: "no-login",
      personal: false,
      unattended: false,
      issuer: null,
      scopes: [],
      serverState: "needs-login",
    },
  ]);
  const login = await logIn(env, targetOf(guarded.url), oidc);
  await until(() => goblin.gateway.servers.status("remote")?.state === "ready");
  const shown = await fetch(`${goblin.origin}/api/logins`);
  const text = await shown.text();
  for (const secret of [login.accessToken, login.refreshToken, login.client.clientSecret]) {
    if (secret !== undefined) expect(text).not.toContain(secret);
  }
  expect(JSON.parse(text)).toMatchObject({
    total: 1,
    items: [{ serverId: "remote", state: "logged-in", issuer: oidc.url, serverState: "ready" }],
  });

  const ended = await out("remote", { owner: null });
  expect(await ended.json()).toEqual({ ended: 1, problems: [] });
  expect(await list()).toMatchObject([{ serverId: "remote", state: "no-login" }]);
  expect((await (await LoginStore.open(env)).read()).logins).toEqual([]);
  // The authorization server knows it too.
  const again = await fetch(login.tokenEndpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: login.refreshToken!,
      client_id: login.client.clientId,
      ...(login.client.clientSecret !== undefined && { client_secret: login.client.clientSecret }),
    }),
  });
  expect(await again.json()).toMatchObject({ error: "invalid_grant" });
});

test("one owner's logout leaves the others' logins alone", async () => {
  const { oidc, guarded, env, list, out } = await scene();
  const login = await logIn(env, targetOf(guarded.url), oidc);
  const store = await LoginStore.open(env);
  const names = ["", "client:ann", "client:ben"];
  await store.change((book) => ({
    ...book,
    logins: names.map((principal) => ({ ...login, principal, revocationEndpoint: undefined })),
  }));
  expect(await (await out("remote", { owner: "client:ann" })).json()).toEqual({
    ended: 1,
    problems: [`${oidc.url} still knows the login: it has no way to end a login`],
  });
  expect((await store.read()).logins.map(({ principal }) => principal)).toEqual(["", "client:ben"]);
  expect(await list()).toMatchObject([{ owner: null, state: "logged-in" }]);
  expect(await (await out("remote", {})).json()).toMatchObject({ ended: 2 });
  expect((await store.read()).logins).toEqual([]);
});

test("a server that is unknown, or cannot have a login, is named", async () => {
  const { out } = await scene();
  const unknown = await out("nope", {});
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { error: { code: "SERVER_NOT_FOUND", message: 'There is no server "nope"' } },
  ]);
  const program = await out("local", {});
  expect([program.status, await program.json()]).toEqual([
    409,
    { error: { code: "NO_LOGIN", message: 'Server "local" has no logins' } },
  ]);
  expect((await out("remote", { owner: 7 })).status).toBe(400);
});
