/**
 * `kill -9` between the rotation of a refresh token at the authorization server and its storage
 * here. The new token is lost with the answer; these tests show what is not.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { logIn, targetOf } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { type Served, serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

interface Swallowed {
  readonly answers: { readonly status: number; readonly body: string }[];
  /** How often the token endpoint was asked in all. */
  asked: number;
}

/** Lets the provider carry out token requests, but keeps its answers to itself. */
function swallow(oidc: AuthorizationServer): Swallowed {
  const swallowed: Swallowed = { answers: [], asked: 0 };
  oidc.intercept = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== "/token") return false;
    swallowed.asked++;
    const kept = { write: response.write, end: response.end };
    response.end = ((chunk?: Buffer | string) => {
      swallowed.answers.push({ status: response.statusCode, body: String(chunk ?? "") });
      Object.assign(response, kept);
      return response;
    }) as typeof response.end;
    return false;
  };
  return swallowed;
}

function count(oidc: AuthorizationServer): { asked: number } {
  const seen = { asked: 0 };
  oidc.intercept = (request) => {
    if (request.url === "/token") seen.asked++;
    return false;
  };
  return seen;
}

async function scene() {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const home = await serveHome({ mcpServers: { remote: { url: guarded.url } } });
  const env = { XDG_STATE_HOME: join(home.folder, "state"), GOBLIN_KEYCHAIN: "0" };
  const store = await LoginStore.open(env);
  await logIn(env, targetOf(guarded.url), oidc);
  /** The next start finds that the token is to be renewed. */
  const makeDue = () =>
    store.change((book) => ({
      ...book,
      logins: book.logins.map((login) => ({
        ...login,
        obtainedAt: Date.now() - 590_000,
        expiresAt: Date.now() + 10_000,
      })),
    }));
  /** Starts a gateway, and kills it when the provider has answered a renewal. */
  const killInRenewal = async (): Promise<Swallowed> => {
    await makeDue();
    const swallowed = swallow(oidc);
    const served = await startServe(home, env);
    await until(() => swallowed.answers.length > 0, { what: "the rotation at the authorization server" });
    served.signal("SIGKILL");
    await served.exited;
    expect(swallowed.answers[0]).toMatchObject({ status: 200, body: expect.stringContaining("refresh_token") });
    return swallowed;
  };
  return { oidc, guarded, home, env, store, killInRenewal };
}

async function callEcho({ origin }: Served): Promise<Record<string, unknown>> {
  const answer = await fetch(`${origin}/api/tools/call`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "remote_echo", arguments: { text: "hello" } }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

const stateOf = async ({ origin }: Served): Promise<string> => {
  const { items } = (await (await fetch(`${origin}/api/servers`)).json()) as { items: { state: string }[] };
  return items[0]!.state;
};

test("an authorization server that takes the old token once more loses nothing", async () => {
  const { oidc, home, env, store, killInRenewal } = await scene();
  const { answers } = await killInRenewal();
  const before = (await store.read()).logins[0]!;
  // A window for repeated requests: the same question gets the same answer.
  let asked = 0;
  oidc.intercept = (request, response) => {
    if (request.url !== "/token") return false;
    asked++;
    response.writeHead(200, { "content-type": "application/json" }).end(answers[0]!.body);
    return true;
  };
  const served = await startServe(home, env);
  await until(async () => (await stateOf(served)) === "ready");
  expect(JSON.stringify(await callEcho(served))).toContain("hello");
  const after = (await store.read()).logins[0]!;
  expect(after.refreshToken).not.toBe(before.refreshToken);
  expect([asked, JSON.parse(answers[0]!.body).refresh_token]).toEqual([1, after.refreshToken]);
});

test("one that revokes the login leaves the old access token in use until the server refuses it", async () => {
  const { oidc, guarded, home, env, store, killInRenewal } = await scene();
  await killInRenewal();
  const seen = count(oidc);
  const served = await startServe(home, env);
  await until(async () => (await stateOf(served)) === "ready");
  expect(JSON.stringify(await callEcho(served))).toContain("hello");
  expect((await store.read()).logins).toHaveLength(1);
  guarded.expire();
  expect(JSON.stringify(await callEcho(served))).toMatch(/needs a login.*\/connect\//);
  await until(async () => (await stateOf(served)) === "needs-login");
  // Calm: calls ask nobody, and nothing is tried again and again.
  const { asked } = seen;
  expect(asked).toBeLessThanOrEqual(3);
  for (let i = 0; i < 5; i++) expect(JSON.stringify(await callEcho(served))).toContain("needs a login");
  expect(seen.asked).toBe(asked);
  // The next login is all that is needed.
  await logIn(env, targetOf(guarded.url), oidc);
  await until(async () => (await stateOf(served)) === "ready");
  expect(JSON.stringify(await callEcho(served))).toContain("hello");
});
