import { decodeJwt } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { Browser, leadsTo } from "../fixtures/browser.ts";
import { connectV1, connectV2, type Recorded } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { logIn, loginsOf, stateEnv, targetOf } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { type Scripted, type ScriptedOptions, startScripted } from "../fixtures/scripted.ts";
import { until } from "../fixtures/until.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const clients = {
  alice: { token: "token-of-alice-0123456789" },
  bob: { token: "token-of-bob-0123456789-x", admin: true },
};
type Name = keyof typeof clients;
const headersOf = (name: Name) => ({ authorization: `Bearer ${clients[name].token}` });

interface Scene {
  readonly oidc: AuthorizationServer;
  readonly behind: Scripted;
  readonly guarded: GuardedServer;
  readonly env: { XDG_STATE_HOME: string };
  start(auth?: Record<string, unknown>): Promise<RunningGoblin>;
}

async function scene(kind: ScriptedOptions = {}): Promise<Scene> {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http", ...kind })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  const start = async (auth: Record<string, unknown> = { as: "caller" }) =>
    startGoblin(
      { mcpServers: { remote: { url: guarded.url, auth } }, gateway: { auth: { clients } } },
      { logins: await loginsOf(env), state: env },
    );
  return { oidc, behind, guarded, env, start };
}

const call = { name: "remote_echo", arguments: { text: "hello" } };
type Answered = { content: { text: string }[]; isError?: boolean };
async function ask({ url }: RunningGoblin, name: Name): Promise<string> {
  const { client } = await connectV1({ url, headers: headersOf(name) });
  return ((await client.callTool(call)) as Answered).content[0]!.text;
}

async function logInAs(name: Name, goblin: RunningGoblin, { oidc }: Scene): Promise<void> {
  const link = /http\S+\/connect\/[\w-]+/.exec(await ask(goblin, name))![0];
  const browser = new Browser();
  expect((await browser.submit(link, { token: clients[name].token })).text).toContain("A login here is yours alone");
  const redirect = await oidc.login(leadsTo(await browser.submit(link, { server: "remote" })), name);
  expect((await browser.open(redirect.href)).text).toContain("Logged in to remote.");
}

const toolsOf = async ({ url }: RunningGoblin, name: Name, era: "legacy" | "modern"): Promise<string[]> => {
  const { client } = await connectV2({ url, headers: headersOf(name), era });
  return (await client.listTools()).tools.map((tool) => tool.name).filter((tool) => tool.startsWith("remote_"));
};
const subjects = ({ guarded }: Scene) => [...guarded.tokens].map((token) => decodeJwt(token).sub);

test("each principal logs in for itself, and sees and uses nothing of another", async () => {
  const here = await scene();
  const goblin = await here.start();
  expect(goblin.gateway.servers.status("remote")).toMatchObject({
    state: "needs-login",
    reason: "each caller logs in for itself; 0 are connected",
  });
  for (const name of ["alice", "bob"] as const) expect(await toolsOf(goblin, name, "modern")).toEqual([]);
  await logInAs("alice", goblin, here);
  expect(await ask(goblin, "alice")).toBe('{"text":"hello"}');
  for (const era of ["legacy", "modern"] as const) {
    expect(await toolsOf(goblin, "alice", era)).toContain("remote_echo");
    expect(await toolsOf(goblin, "bob", era)).toEqual([]);
  }
  expect(await ask(goblin, "bob")).toMatch(/^Server "remote" needs a login: the user must open http/);
  expect(subjects(here)).toEqual(["alice"]);
  await logInAs("bob", goblin, here);
  expect(await ask(goblin, "bob")).toBe('{"text":"hello"}');
  expect(subjects(here)).toEqual(["alice", "bob"]);
  expect(goblin.gateway.servers.status("remote")).toMatchObject({
    state: "ready",
    reason: "each caller logs in for itself; 2 are connected",
  });
});

test("no list is for all, although the server says that of its own", async () => {
  const here = await scene({ era: "modern", script: { ttlMs: 9000, cacheScope: "public" } });
  const goblin = await here.start();
  await logInAs("alice", goblin, here);
  expect(await ask(goblin, "alice")).toBe('{"text":"hello"}');
  const { result } = (await stateless(goblin.url, clients.alice).call("prompts/list")).message;
  expect(result.prompts).not.toEqual([]);
  expect([result.ttlMs, result.cacheScope]).toEqual([9000, "private"]);
});

test("a client hears that its lists have changed when its principal has logged in, and nobody else does", async () => {
  const here = await scene();
  const goblin = await here.start();
  const [alice, bob] = await Promise.all(
    (["alice", "bob"] as const).map((name) => connectV1({ url: goblin.url, headers: headersOf(name) })),
  );
  await logInAs("alice", goblin, here);
  const changes = (one: typeof alice) =>
    one!.notifications.filter(({ method }) => method.includes("tools/list_changed"));
  await until(() => changes(alice).length > 0, { what: "the change" });
  expect(changes(bob)).toEqual([]);
});

test("a login outlives the gateway, with its lists", async () => {
  const here = await scene();
  const first = await here.start();
  await logInAs("alice", first, here);
  expect(await ask(first, "alice")).toBe('{"text":"hello"}');
  await first.gateway.close();
  const second = await here.start();
  expect(await toolsOf(second, "alice", "modern")).toContain("remote_echo");
  expect(await toolsOf(second, "bob", "modern")).toEqual([]);
  const third = await here.start();
  expect(await ask(third, "alice")).toBe('{"text":"hello"}');
});

test("no login stands in for another", async () => {
  const here = await scene();
  await logIn(here.env, targetOf(here.guarded.url), here.oidc);
  const forCallers = await here.start();
  expect(await ask(forCallers, "alice")).toContain("needs a login");
  expect(subjects(here)).toEqual([]);
  await forCallers.gateway.close();
  await (await LoginStore.open(here.env)).change((book) => ({
    ...book,
    logins: book.logins.map((login) => ({ ...login, principal: "client:alice" })),
  }));
  const forAll = await here.start({});
  expect(forAll.gateway.servers.status("remote")?.state).toBe("needs-login");
  expect(subjects(here)).toEqual([]);
});

test("a refused renewal of one caller leaves the others alone", async () => {
  const here = await scene();
  const goblin = await here.start();
  await logInAs("alice", goblin, here);
  expect(await ask(goblin, "alice")).toBe('{"text":"hello"}');
  await logInAs("bob", goblin, here);
  here.guarded.expire();
  here.oidc.intercept = (request, response) => {
    if (request.url !== "/token") return false;
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
    return true;
  };
  expect(await ask(goblin, "alice")).toContain("needs a login");
  here.oidc.intercept = () => false;
  expect(await ask(goblin, "bob")).toBe('{"text":"hello"}');
});

interface Subscriber {
  readonly notifications: Recorded[];
  subscribe(uri: string): Promise<unknown>;
}

const subscribers = {
  session: async ({ url }: RunningGoblin, name: Name): Promise<Subscriber> => {
    const { client, notifications } = await connectV1({ url, headers: headersOf(name) });
    return { notifications, subscribe: (uri) => client.subscribeResource({ uri }) };
  },
  stream: async ({ url }: RunningGoblin, name: Name): Promise<Subscriber> => {
    const { client, notifications } = await connectV2({ url, headers: headersOf(name), era: "modern" });
    const subscribe = async (uri: string): Promise<void> => {
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
      expect(honoredFilter).toEqual({ resourceSubscriptions: [uri] });
    };
    return { notifications, subscribe };
  },
};
const updatesOf = ({ notifications }: Subscriber): unknown[] =>
  notifications.filter(({ method }) => method.endsWith("/updated")).map(({ params }) => params?.["uri"]);

describe.each(["session", "stream"] as const)("the subscriptions of a %s", (kind) => {
  const [HELLO, PIXEL] = ["text:///hello", "blob:///pixel"];
  const shown = (uri: string): string => `remote+${uri}`;

  test("are at the connection of its principal, and get what that one reports", async () => {
    const here = await scene();
    const goblin = await here.start();
    for (const name of ["alice", "bob"] as const) await logInAs(name, goblin, here);
    for (const name of ["alice", "bob"] as const) expect(await ask(goblin, name)).toBe('{"text":"hello"}');
    const [alice, bob] = [await subscribers[kind](goblin, "alice"), await subscribers[kind](goblin, "bob")];
    await alice.subscribe(shown(HELLO));
    await bob.subscribe(shown(PIXEL));
    const subscribed = await here.behind.events("subscribe");
    expect(subscribed.map(({ uri }) => uri)).toEqual([HELLO, PIXEL]);
    // The connection of alice reports the resource that bob subscribed to.
    await here.behind.control("touch", { uri: HELLO, as: PIXEL });
    await here.behind.control("touch", { uri: HELLO });
    await until(() => updatesOf(alice).length > 0, { what: "the update for alice" });
    expect([updatesOf(alice), updatesOf(bob)]).toEqual([[shown(HELLO)], []]);
    await here.behind.control("touch", { uri: PIXEL });
    await until(() => updatesOf(bob).length > 0, { what: "the update for bob" });
    expect([updatesOf(alice), updatesOf(bob)]).toEqual([[shown(HELLO)], [shown(PIXEL)]]);
  });

  test("are made again on a new connection, with one update", async () => {
    const here = await scene();
    const goblin = await here.start();
    await logInAs("alice", goblin, here);
    expect(await ask(goblin, "alice")).toBe('{"text":"hello"}');
    const alice = await subscribers[kind](goblin, "alice");
    await alice.subscribe(shown(HELLO));
    await here.behind.restart();
    // A call notices the loss at once.
    await until(async () => (await ask(goblin, "alice")) === '{"text":"hello"}', { what: "the new connection" });
    await until(async () => (await here.behind.events("subscribe")).length === 2, { what: "the second subscription" });
    await until(() => updatesOf(alice).length > 0, { what: "the update after the restart" });
    expect(updatesOf(alice)).toEqual([shown(HELLO)]);
    await here.behind.control("touch", { uri: HELLO });
    await until(() => updatesOf(alice).length === 2, { what: "an update on the new connection" });
  });
});

describe("a gateway without credentials", () => {
  const open = async (gateway: Record<string, unknown>) => {
    const { guarded, env } = await scene();
    const goblin = await startGoblin(
      { mcpServers: { remote: { url: guarded.url, auth: { as: "caller" } } }, gateway },
      { logins: await loginsOf(env) },
    );
    const { client } = await connectV1({ url: goblin.url });
    return client.callTool(call).then(
      (result) => (result as Answered).content[0]!.text,
      (error: Error) => error.message,
    );
  };

  test("gives its callers the login of this machine's user", async () => {
    expect(await open({})).toContain("/connect/");
  });

  test.each([
    { why: "a proxy may be in front", gateway: { publicUrl: "http://127.0.0.1:1" } },
    { why: "other hosts lead to it", gateway: { allowedHosts: ["gateway.example"] } },
    { why: "it trusts a proxy", gateway: { trustedProxies: ["127.0.0.1"] } },
    { why: "it listens to the network", gateway: { host: "0.0.0.0" } },
  ])("gives them none if $why", async ({ gateway }) => {
    expect(await open(gateway)).toContain('needs "gateway.auth": without it, callers cannot be told apart');
  });
});
