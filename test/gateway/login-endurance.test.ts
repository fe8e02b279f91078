import { afterEach, expect, test } from "vitest";
import { type Login, LoginStore } from "../../src/auth/login/store.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { logIn, loginsOf, stateEnv, targetOf } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

interface Scene {
  readonly guarded: GuardedServer;
  readonly env: { XDG_STATE_HOME: string };
  /** How often the token endpoint was asked. */
  readonly asked: () => number;
  start(): Promise<RunningGoblin>;
}

/** A server with a login. */
async function scene(): Promise<Scene> {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  await logIn(env, targetOf(guarded.url), oidc);
  let asked = 0;
  oidc.intercept = (request) => {
    if (request.url === "/token") asked++;
    return false;
  };
  const start = async () =>
    startGoblin({ mcpServers: { remote: { url: guarded.url } } }, { logins: await loginsOf(env) });
  return { guarded, env, asked: () => asked, start };
}

const call = (text: string) => ({ name: "remote_echo", arguments: { text } });
const isAnswered = (result: unknown): boolean => (result as { isError?: boolean }).isError !== true;
async function echo({ url }: RunningGoblin): Promise<boolean> {
  const { client } = await connectV1({ url });
  return isAnswered(await client.callTool(call("hello")));
}
const change = async ({ env }: Scene, to: Partial<Login>): Promise<void> => {
  const store = await LoginStore.open(env);
  await store.change((book) => ({ ...book, logins: book.logins.map((login) => ({ ...login, ...to })) }));
};

test("fifty calls of ten clients at the end of a token cause one token request", async () => {
  const here = await scene();
  const { url } = await here.start();
  const clients = await Promise.all([
    ...Array.from({ length: 4 }, () => connectV1({ url })),
    ...Array.from({ length: 3 }, () => connectV2({ url, era: "legacy" })),
    ...Array.from({ length: 3 }, () => connectV2({ url, era: "modern" })),
  ]);
  here.guarded.expire();
  const calls = clients.flatMap(({ client }, i) =>
    Array.from({ length: 5 }, (_, j) => client.callTool(call(`${i} ${j}`)) as Promise<unknown>),
  );
  expect((await Promise.all(calls)).filter(isAnswered)).toHaveLength(50);
  expect(here.asked()).toBe(1);
});

test("two processes on one store, called at the same time, cause one token request", async () => {
  const here = await scene();
  const start = async () => {
    const home = await serveHome({ mcpServers: { remote: { url: here.guarded.url } } });
    return startServe(home, { ...here.env, GOBLIN_KEYCHAIN: "0" });
  };
  const both = await Promise.all([start(), start()]);
  const clients = await Promise.all(both.flatMap(({ url }) => [connectV1({ url }), connectV2({ url, era: "modern" })]));
  for (const { client } of clients) expect(isAnswered(await client.callTool(call("before")))).toBe(true);
  here.guarded.expire();
  const calls = clients.flatMap(({ client }, i) =>
    Array.from({ length: 5 }, (_, j) => client.callTool(call(`${i} ${j}`)) as Promise<unknown>),
  );
  expect((await Promise.all(calls)).filter(isAnswered)).toHaveLength(20);
  expect(here.asked()).toBe(1);
});

test.each([
  { what: "forward, past the end of the token", shift: 30 * 24 * 3_600_000 },
  { what: "back, before the token was given", shift: -30 * 24 * 3_600_000 },
])("a clock that jumps $what loses no login", async ({ shift }) => {
  const here = await scene();
  const [login] = (await (await LoginStore.open(here.env)).read()).logins;
  await change(here, { obtainedAt: login!.obtainedAt - shift, expiresAt: login!.expiresAt! - shift });
  const goblin = await here.start();
  expect(await echo(goblin)).toBe(true);
  expect(goblin.gateway.servers.status("remote")?.state).toBe("ready");
  expect(here.asked()).toBeLessThanOrEqual(1);
});

test("reloads and restarts lose no login, and cause no token request", async () => {
  const here = await scene();
  const first = await here.start();
  expect(await echo(first)).toBe(true);
  const text = JSON.stringify({ mcpServers: { remote: { url: here.guarded.url, headers: { "x-new": "1" } } } });
  await first.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
  await until(() => first.gateway.servers.status("remote")?.state === "ready");
  expect(await echo(first)).toBe(true);
  await first.gateway.close();
  expect(await echo(await here.start())).toBe(true);
  expect(here.asked()).toBe(0);
});
