import { once } from "node:events";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Browser, leadsTo } from "../fixtures/browser.ts";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { startMalicious } from "../fixtures/malicious.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { type Served, serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

let oidc: AuthorizationServer;
let guarded: GuardedServer;
let home: CommandHome;
let config: Record<string, unknown>;
let file: string;
let env: Record<string, string>;

beforeEach(async () => {
  const [authorizationServer, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  oidc = authorizationServer;
  guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  home = commandHome();
  config = { mcpServers: { remote: { url: guarded.url }, program: { command: "true", enabled: false } } };
  file = home.write("team.json", JSON.stringify(config));
  env = { XDG_STATE_HOME: join(home.folder, "state") };
});

/** Runs `goblin login` with a browser that notes its URL, and acts as the user in it. */
async function logIn(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const opened = join(home.folder, "opened");
  const browser = home.write("browser", `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  chmodSync(browser, 0o755);
  const child = home.start(["login", ...args, "--config", file], { env: { ...env, BROWSER: browser } });
  let [out, err] = ["", ""];
  child.stdout!.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr!.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  const exited = once(child, "exit");
  const isPrinted = args.includes("--no-browser");
  await until(
    () =>
      (isPrinted ? /^http\S+authorize?\S*\n|^http\S+\/auth\?\S+\n/m.test(err) : existsSync(opened)) ||
      child.exitCode !== null,
    {
      what: "the URL of the login",
    },
  );
  if (child.exitCode === null) {
    const url = isPrinted ? /^http\S+/m.exec(err)![0] : readFileSync(opened, "utf8");
    const redirect = await oidc.login(url);
    expect((await fetch(new URL("/callback?state=guessed&code=x", redirect))).status).toBe(404);
    const page = await fetch(redirect);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("close this page")]);
  }
  const [code] = (await exited) as [number];
  return { code, out, err };
}

const servers = async (served: Served) => {
  const answer = await fetch(`${served.origin}/api/servers`);
  return ((await answer.json()) as { items: { id: string; state: string; reason: string | null }[] }).items;
};

async function callEcho(served: Served): Promise<{ result?: unknown; error?: unknown }> {
  const answer = await fetch(`${served.origin}/api/tools/call`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "remote_echo", arguments: { text: "hello" } }),
  });
  return (await answer.json()) as { result?: unknown };
}

test("a login of the only caller there is, the user of this machine", async () => {
  const own = { remote: { url: guarded.url, auth: { as: "caller" } } };
  file = home.write("team.json", JSON.stringify({ mcpServers: own }));
  expect(await logIn("--no-browser")).toMatchObject({ code: 0, out: 'Logged in to "remote" (mcp:use).\n' });
  expect((await logIn()).out).toBe("No server needs a login.\n");
  const shown = await home.goblinWith({ env }, "auth", "--json", "--config", file);
  expect(JSON.parse(shown.out).servers).toMatchObject([{ server: "remote", principal: "local", state: "logged-in" }]);
  const clients = { ada: { token: "token-of-ada-0123456789ab" } };
  file = home.write("team.json", JSON.stringify({ mcpServers: own, gateway: { auth: { clients } } }));
  expect((await logIn("remote")).out).toContain("each caller logs in for itself");
});

test("a login on another device, with a code", async () => {
  const settings = { features: { deviceFlow: { enabled: true }, registration: { enabled: true } } };
  oidc = await startOidc({ ...settings, ttl: { AccessToken: 600, RefreshToken: 600, DeviceCode: 600, Grant: 600 } });
  guarded = await startGuarded({
    behind: (await startScripted({ transport: "http" })).url,
    issuer: oidc.url,
    scope: "mcp:use",
  });
  file = home.write("team.json", JSON.stringify({ mcpServers: { remote: { url: guarded.url } } }));
  const child = home.start(["login", "remote", "--device", "--config", file], { env });
  let [out, err] = ["", ""];
  child.stdout!.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr!.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  const exited = once(child, "exit");
  await until(() => / or open http\S+\n/.test(err) || child.exitCode !== null, { what: "the code" });
  expect(err).toMatch(/Open this URL on any device:\nhttp\S+\/device\nand enter the code [A-Z]{4}-[A-Z]{4}, or open/);
  await oidc.login(/ or open (http\S+)/.exec(err)![1]!);
  expect(await exited).toEqual([0, null]);
  expect(out).toBe('Logged in to "remote" (mcp:use).\n');
});

test("a login in the browser, the table of logins, and the end of a login", async () => {
  expect(await home.goblinWith({ env }, "auth", "--config", file)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/SERVER +WHOSE +STATE +ISSUER +EXPIRES +SCOPES\nremote +all +no-login/),
  });
  const done = await logIn("remote");
  expect(done).toMatchObject({ code: 0, out: 'Logged in to "remote" (mcp:use).\n' });
  const shown = await home.goblinWith({ env }, "auth", "--json", "--config", file);
  expect(JSON.parse(shown.out)).toEqual({
    store: "file",
    place: join(home.folder, "state/goblin/logins"),
    servers: [
      {
        server: "remote",
        principal: null,
        state: "logged-in",
        issuer: oidc.url,
        expiresAt: expect.stringMatching(/^20/),
        isRenewed: true,
        scopes: ["mcp:use"],
      },
    ],
  });
  expect((await home.goblinWith({ env }, "login", "--config", file)).out).toBe("No server needs a login.\n");
  expect(await home.goblinWith({ env }, "logout", "remote", "--config", file)).toMatchObject({
    code: 0,
    out: 'Logged out of "remote".\n',
    err: "",
  });
  const again = await home.goblinWith({ env }, "logout", "--config", file);
  expect(again.out).toBe("There is no login at any server of the config.\n");
  const after = await home.goblinWith({ env }, "auth", "--json", "--config", file);
  expect(JSON.parse(after.out)).toMatchObject({ servers: [{ state: "no-login", issuer: null }] });
});

test("without a browser the URL is printed; without a name all servers are asked", async () => {
  expect(await logIn("--no-browser")).toMatchObject({ code: 0, out: 'Logged in to "remote" (mcp:use).\n' });
});

test("a redirect from another machine is pasted", async () => {
  const child = home.start(["login", "remote", "--manual", "--config", file], { env });
  let err = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  const exited = once(child, "exit");
  await until(() => err.includes("press Enter"), { what: "the question" });
  const redirect = await oidc.login(/^http\S+/m.exec(err)![0]);
  child.stdin!.write(`${redirect}\n`);
  expect((await exited)[0]).toBe(0);
});

test("a name that has no login is a mistake that is explained", async () => {
  const unknown = await home.goblinWith({ env }, "login", "remot", "--config", file);
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining('no server "remot"; those with a login: remote'),
  });
  const program = await home.goblinWith({ env }, "login", "program", "--config", file);
  expect(program).toMatchObject({ code: 2, err: expect.stringContaining('server "program" has no login') });
});

test("a running gateway connects after the login, and a killed one loses nothing", async () => {
  const place = await serveHome({ ...config, gateway: {} });
  const first = await startServe(place, env);
  await until(async () => (await servers(first))[0]?.state === "needs-login", { what: "needs-login" });
  const refused = (await callEcho(first)).result as { _meta: Record<string, unknown> };
  expect(refused._meta["goblin/error"]).toMatchObject({ code: "LOGIN_REQUIRED" });
  expect(await logIn("remote")).toMatchObject({ code: 0 });
  await until(async () => (await servers(first))[0]?.state === "ready", { what: "the server to be ready" });
  expect(await callEcho(first)).toHaveProperty("result");

  // Killed while it waits for a new token: the request never reached the authorization server.
  let waiting = 0;
  oidc.intercept = ({ url }) => {
    if (url === "/token") waiting++;
    return url === "/token";
  };
  guarded.expire();
  const lost = callEcho(first).catch(() => undefined);
  await until(() => waiting === 1, { what: "the token request" });
  first.signal("SIGKILL");
  await Promise.all([first.exited, lost]);
  oidc.intercept = () => false;
  const second = await startServe(place, env);
  await until(async () => (await servers(second))[0]?.state === "ready", { what: "the server to be ready again" });
  expect(await callEcho(second)).toHaveProperty("result");
  expect(first.log() + second.log()).not.toMatch(/eyJ/);
});

test("two processes on one store make one token request", async () => {
  expect(await logIn("remote")).toMatchObject({ code: 0 });
  const both = [await startServe(await serveHome(config), env), await startServe(await serveHome(config), env)];
  for (const one of both) await until(async () => (await servers(one))[0]?.state === "ready", { what: "ready" });
  const requests: string[] = [];
  oidc.intercept = ({ url }) => {
    if (url === "/token") requests.push(url);
    return false;
  };
  guarded.expire();
  const answers = await Promise.all(both.flatMap((one) => Array.from({ length: 5 }, () => callEcho(one))));
  expect(answers.filter((answer) => "result" in answer)).toHaveLength(10);
  expect(requests).toEqual(["/token"]);
});

/** What starts `goblin stdio` as a client would. */
const stdioOf = (config: string) => ({
  command: process.execPath,
  args: ["bin/goblin.js", "stdio", "--config", config],
  env: { ...(process.env as Record<string, string>), ...env },
});

/** Logs in as a person who was given the link. */
async function visit(link: string): Promise<string> {
  const browser = new Browser();
  expect((await browser.open(link)).text).toContain("remote");
  const redirect = await oidc.login(leadsTo(await browser.submit(link, { server: "remote" })));
  return (await browser.open(redirect.href)).text;
}

const echo = { name: "remote_echo", arguments: { text: "hello" } };

test("a client that starts goblin stdio is asked to log in on a page of this machine, and its call goes on", async () => {
  // Neither the address nor the tokens of `goblin serve` are those of this process.
  const gateway = { publicUrl: "https://goblin.example", auth: { tokens: ["a-token-of-goblin-serve-1234"] } };
  const target = stdioOf(home.write("stdio.json", JSON.stringify({ ...config, gateway })));
  const asked: string[] = [];
  const { client } = await connectV2({
    ...target,
    era: "modern",
    elicitation: ({ url }) => {
      asked.push(url);
      setTimeout(() => void visit(url), 100);
      return { action: "accept" };
    },
  });
  expect((await client.callTool(echo)).content).toEqual([{ type: "text", text: '{"text":"hello"}' }]);
  expect(asked).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/connect\/[\w-]+$/)]);
  // The address serves the page and nothing else, and only under its own name.
  const { origin, port, pathname } = new URL(asked[0]!);
  const statuses = await Promise.all([
    ...["/mcp", "/api/status", "/ui", "/connect/nothing"].map(async (path) => (await fetch(origin + path)).status),
    (await fetch(`http://localhost:${port}${pathname}`)).status,
  ]);
  expect(statuses).toEqual([404, 404, 404, 404, 404]);
});

test("a client of goblin stdio that opens no links gets a link that works in words", async () => {
  const { client } = await connectV1(stdioOf(file));
  const { content, isError } = (await client.callTool(echo)) as { content: { text: string }[]; isError: boolean };
  expect(isError).toBe(true);
  expect(await visit(/http\S+\/connect\/[\w-]+/.exec(content[0]!.text)![0])).toContain("Logged in to remote.");
  await until(async () => ((await client.callTool(echo)) as { isError?: boolean }).isError !== true);
});

test.skipIf(!hasScript)("A-H3: a person sees both issuers, and decides which one gets the client secret", async () => {
  const evil = await startMalicious();
  const client = { client_id: "mine", client_secret: "s3cret", redirect_uris: ["http://127.0.0.1:33421/callback"] };
  oidc = await startOidc({ clients: [{ ...client, token_endpoint_auth_method: "client_secret_basic" }] });
  const behind = (await startScripted({ transport: "http" })).url;
  guarded = await startGuarded({ behind, issuer: oidc.url, scope: "mcp:use" });
  const auth = { clientId: "mine", clientSecret: "s3cret", callbackPort: 33421 };
  file = home.write("team.json", JSON.stringify({ mcpServers: { remote: { url: guarded.url, auth } } }));
  expect(await logIn("remote")).toMatchObject({ code: 0 });
  guarded.issuer = evil.origin;
  const piped = await home.goblinWith({ env }, "login", "remote", "--config", file);
  expect(piped).toMatchObject({ code: 1, err: expect.stringContaining(`belongs to ${oidc.url}, but the server now`) });
  const args = ["login", "remote", "--no-browser", "--config", file];
  const refused = await home.onTerminal(args, { env, typing: [["[y/N] ", "\r"]] });
  expect(refused.shown).toContain(`before: ${oidc.url}\r\n  now:    ${evil.origin}`);
  expect(refused.code).toBe(1);
  const agreed = await home.onTerminal(args, {
    env,
    typing: [
      ["[y/N] ", "y\r"],
      [`${evil.origin}/authorize?`, "\u0003"],
    ],
  });
  expect(agreed.shown).toContain(`Log in to "remote" at ${evil.origin}`);
  expect(evil.tokenRequests).toEqual([]);
});
