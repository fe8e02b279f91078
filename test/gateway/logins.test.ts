import type { Configuration } from "oidc-provider";
import { afterEach, describe, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { logIn, loginsOf, stateEnv, targetOf } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { type ScriptedOptions, startScripted } from "../fixtures/scripted.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

interface Scene {
  readonly oidc: AuthorizationServer;
  readonly guarded: GuardedServer;
  readonly env: { XDG_STATE_HOME: string };
  /** The grant types of all token requests so far. */
  readonly grants: string[];
}

async function scene(kind: ScriptedOptions = {}, settings: Configuration = {}): Promise<Scene> {
  const [oidc, behind] = await Promise.all([startOidc(settings), startScripted({ transport: "http", ...kind })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const grants: string[] = [];
  const note = (context: { oidc: { params?: Record<string, unknown> } }): void => {
    grants.push(String(context.oidc.params?.["grant_type"]));
  };
  oidc.provider.on("grant.success", note as never);
  oidc.provider.on("grant.error", note as never);
  return { oidc, guarded, env: stateEnv(), grants };
}

const start = async ({ guarded, env }: Scene, entry = {}): Promise<RunningGoblin> =>
  startGoblin({ mcpServers: { remote: { url: guarded.url, ...entry } } }, { logins: await loginsOf(env) });

const stateOf = ({ gateway }: RunningGoblin) => gateway.servers.status("remote");
const isReady = async (goblin: RunningGoblin): Promise<void> => {
  await until(() => stateOf(goblin)?.state === "ready", { what: "the server to be ready" });
};

let ids = 0;
async function rpc(goblin: RunningGoblin, method: string, params: Record<string, unknown>) {
  const answer = await fetch(goblin.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++ids,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const text = await answer.text();
  const json = text.startsWith("{") ? text : text.slice(text.indexOf("{"));
  return JSON.parse(json) as {
    result?: {
      content?: { text: string }[];
      isError?: boolean;
      tools?: { name: string }[];
      _meta?: { "goblin/error"?: Record<string, unknown> };
    };
    error?: { code: number; message: string; data: Record<string, unknown> };
  };
}
const echo = (goblin: RunningGoblin, text = "hello") =>
  rpc(goblin, "tools/call", { name: "remote_echo", arguments: { text } });

/** Why a call was refused, in the result that a model reads. */
const refusalOf = ({ result }: Awaited<ReturnType<typeof rpc>>) => result?._meta?.["goblin/error"];

describe.each<{ what: string; kind: ScriptedOptions; entry: Record<string, unknown> }>([
  { what: "legacy", kind: { era: "legacy" }, entry: {} },
  { what: "modern", kind: { era: "modern" }, entry: {} },
  { what: "HTTP+SSE", kind: { transport: "sse" }, entry: { type: "sse" } },
])("a $what server behind OAuth", ({ kind, entry }) => {
  test("needs a login, says how, and connects by itself after it", async () => {
    const here = await scene(kind);
    const goblin = await start(here, entry);
    expect(stateOf(goblin)).toMatchObject({
      state: "needs-login",
      reason: 'Server "remote" needs a login: run "goblin login remote"',
      retryAfterMs: undefined,
    });
    const refusals = here.guarded.refusals;
    for (let i = 0; i < 8; i++) {
      const refused = { code: "LOGIN_REQUIRED", serverId: "remote", remedy: "goblin login remote" };
      expect(refusalOf(await echo(goblin))).toMatchObject(refused);
    }
    expect(here.guarded.refusals).toBe(refusals);
    const login = await logIn(here.env, targetOf(here.guarded.url), here.oidc);
    await isReady(goblin);
    expect((await echo(goblin)).result?.content?.[0]?.text).toContain("hello");
    expect([...here.guarded.tokens]).toEqual([login.accessToken]);
    expect(JSON.stringify(goblin.logs)).not.toContain(login.accessToken);
  });

  test("gets one token request for fifty calls at the end of a token", async () => {
    const here = await scene(kind);
    await logIn(here.env, targetOf(here.guarded.url), here.oidc);
    const goblin = await start(here, entry);
    await isReady(goblin);
    here.guarded.expire();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => echo(goblin, `call ${i}`)));
    expect(answers.map(({ result }) => result?.isError ?? false)).toEqual(Array(50).fill(false));
    expect(here.grants).toEqual(["authorization_code", "refresh_token"]);
    expect(here.guarded.tokens.size).toBe(2);
    expect(stateOf(goblin)?.state).toBe("ready");
  });
});

test("two gateways on one store get one token between them", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const both = await Promise.all([start(here), start(here)]);
  await Promise.all(both.map(isReady));
  here.guarded.expire();
  const answers = await Promise.all(both.flatMap((goblin) => Array.from({ length: 10 }, () => echo(goblin))));
  expect(answers.every(({ result }) => result !== undefined)).toBe(true);
  expect(here.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("a token is renewed ahead of its end, without a call", async () => {
  const ttl = { Interaction: 600, Session: 600, Grant: 600, AccessToken: 5, RefreshToken: 600, IdToken: 600 };
  const here = await scene({}, { ttl });
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const goblin = await start(here);
  await isReady(goblin);
  await until(() => here.grants.length >= 3, { what: "two renewals" });
  expect(here.guarded.refusals).toBe(1);
  expect((await echo(goblin)).result).toBeDefined();
});

test("a refused renewal ends in a calm state, with the tools still listed", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const goblin = await start(here);
  await isReady(goblin);
  const before = (await rpc(goblin, "tools/list", {})).result?.tools?.map(({ name }) => name);
  here.oidc.intercept = (request, response) => {
    if (request.url !== "/token") return false;
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
    return true;
  };
  here.guarded.expire();
  expect(refusalOf(await echo(goblin))).toMatchObject({ code: "LOGIN_REQUIRED" });
  await until(() => stateOf(goblin)?.state === "needs-login");
  const { refusals } = here.guarded;
  expect(refusalOf(await echo(goblin))).toMatchObject({ code: "LOGIN_REQUIRED" });
  expect(here.guarded.refusals).toBe(refusals);
  expect((await rpc(goblin, "tools/list", {})).result?.tools?.map(({ name }) => name)).toEqual(before);
});

test("a server without a login lists after a restart what it listed before", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const config = { mcpServers: { remote: { url: here.guarded.url } }, backends: { graceMs: 0 } };
  const run = async () => startGoblin(config, { logins: await loginsOf(here.env), state: here.env });
  const first = await run();
  await isReady(first);
  const before = (await rpc(first, "tools/list", {})).result?.tools?.map(({ name }) => name);
  expect(before).toContain("remote_echo");
  await first.gateway.close();
  await (await LoginStore.open(here.env)).change((book) => ({ ...book, logins: [] }));
  const second = await run();
  expect(stateOf(second)?.state).toBe("needs-login");
  expect((await rpc(second, "tools/list", {})).result?.tools?.map(({ name }) => name)).toEqual(before);
  expect(refusalOf(await echo(second))).toMatchObject({ code: "LOGIN_REQUIRED", remedy: "goblin login remote" });
});

test("a token endpoint that fails for a while loses no login", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const goblin = await start(here);
  await isReady(goblin);
  here.oidc.intercept = (request, response) => {
    if (request.url !== "/token") return false;
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
    return true;
  };
  here.guarded.expire();
  const { error } = await echo(goblin);
  expect(error?.data).toMatchObject({ code: "BACKEND_UNAVAILABLE" });
  expect(error?.message).toContain("its login cannot be renewed at");
  here.oidc.intercept = () => false;
  await until(async () => (await echo(goblin)).result !== undefined, { what: "a call to succeed" });
});

test("a server that refuses every token is asked once, not again and again", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  here.guarded.isClosed = true;
  const goblin = await start(here);
  expect(stateOf(goblin)?.state).toBe("needs-login");
  expect(here.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("a call that needs more scopes fails alone, and the next login asks for them", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const goblin = await start(here);
  await isReady(goblin);
  here.guarded.needs.set("secret word", "mcp:admin");
  const refused = await echo(goblin, "secret word");
  expect(refusalOf(refused)).toMatchObject({ code: "LOGIN_REQUIRED", scopes: ["mcp:admin"] });
  expect((await echo(goblin)).result).toBeDefined();
  expect(stateOf(goblin)).toMatchObject({
    state: "degraded",
    reason: 'some calls need more scopes (mcp:admin): run "goblin login remote"',
  });
  const again = await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  expect(again.scopes).toEqual(expect.arrayContaining(["mcp:use", "mcp:admin"]));
  await isReady(goblin);
});

test.each(["legacy", "modern"] as const)("a %s server that wants more scopes at once needs a login", async (era) => {
  const here = await scene({ era });
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  here.guarded.needs.set("jsonrpc", "mcp:admin");
  const goblin = await start(here);
  expect(stateOf(goblin)).toMatchObject({ state: "needs-login", reason: expect.stringContaining("mcp:admin") });
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  await isReady(goblin);
});

test("a server with a key of its own or without a wish for logins is left alone", async () => {
  const here = await scene();
  const goblin = await startGoblin(
    {
      mcpServers: {
        remote: { url: here.guarded.url, headers: { Authorization: "Bearer something" } },
        other: { url: here.guarded.url, auth: { type: "none" } },
      },
    },
    { logins: await loginsOf(here.env) },
  );
  expect(stateOf(goblin)?.state).toBe("down");
  expect(goblin.gateway.servers.status("other")?.state).toBe("down");
});
