/**
 * A server with `"as": "caller"` behind `goblin stdio`: its client is the user of this machine,
 * whose login works, stays, and is the same in every way that the user's clients come.
 */

import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { Browser, leadsTo } from "../fixtures/browser.ts";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { PROGRAM } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

const call = { name: "remote_echo", arguments: { text: "hello" } };
const HELLO = [{ type: "text", text: '{"text":"hello"}' }];
const linkIn = (text: string): string => /http:\/\/127\S+\/connect\/[\w-]+/.exec(text)![0];
type Answered = { content: { text: string }[] };

async function scene(gateway: Record<string, unknown> = {}) {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const home = await serveHome({});
  home.write({
    mcpServers: { remote: { url: guarded.url, auth: { as: "caller" } } },
    gateway: { port: home.port, ...gateway },
  });
  const env = { ...(process.env as Record<string, string>), XDG_STATE_HOME: join(home.folder, "state") };
  /** A client's entry. */
  const stdio = (...more: string[]) => ({
    command: process.execPath,
    args: [PROGRAM, "stdio", ...more, "--config", home.configFile],
    env,
    cwd: home.folder,
  });
  const logIn = async (link: string): Promise<void> => {
    const browser = new Browser();
    expect((await browser.open(link)).text).toMatch(/A login here is yours alone[\s\S]*value="remote"/);
    const back = await oidc.login(leadsTo(await browser.submit(link, { server: "remote" })));
    expect((await browser.open(back.href)).text).toContain("Logged in to remote.");
  };
  const owners = async () => (await (await LoginStore.open(env)).read()).logins.map(({ principal }) => principal);
  return { home, env, stdio, logIn, owners, guarded };
}

test("a client of today is asked, its call goes on, and the login serves the next client", async () => {
  const { stdio, logIn, owners } = await scene();
  const first = await connectV2({
    ...stdio(),
    era: "modern",
    elicitation: ({ url }) => {
      void logIn(url);
      return { action: "accept" };
    },
  });
  expect((await first.client.callTool(call)).content).toEqual(HELLO);
  expect(await owners()).toEqual(["local"]);
  expect((await first.client.listTools()).tools.map(({ name }) => name)).toContain("remote_echo");
  await first.close();
  const next = await connectV1(stdio());
  expect(((await next.client.callTool(call)) as Answered).content).toEqual(HELLO);
  const modern = await connectV2({ ...stdio(), era: "modern" });
  expect((await modern.client.callTool(call)).content).toEqual(HELLO);
});

test("a client with a session gets the link as an error, one that opens none in words", async () => {
  const { stdio, logIn } = await scene();
  const opens = await connectV1({ ...stdio(), elicitation: () => ({ action: "accept" }) });
  await expect(opens.client.callTool(call)).rejects.toMatchObject({ code: -32042 });
  const { client } = await connectV1(stdio());
  const { content } = (await client.callTool(call)) as Answered;
  await logIn(linkIn(content[0]!.text));
  expect(((await client.callTool(call)) as Answered).content).toEqual(HELLO);
  // Another process of the same user sees the login.
  await expect
    .poll(async () => ((await opens.client.callTool(call)) as Answered).content, { timeout: 10_000 })
    .toEqual(HELLO);
});

test("a pipe into the running gateway has the same login as a client that starts one", async () => {
  const { home, env, stdio, logIn, owners } = await scene();
  await startServe(home, env);
  const pipe = await connectV1(stdio("--attach"));
  const { content } = (await pipe.client.callTool(call)) as Answered;
  expect(content[0]!.text).toContain(`http://127.0.0.1:${home.port}/connect/`);
  await logIn(linkIn(content[0]!.text));
  expect(((await pipe.client.callTool(call)) as Answered).content).toEqual(HELLO);
  expect(await owners()).toEqual(["local"]);
  const alone = await connectV2({ ...stdio(), era: "modern" });
  expect((await alone.client.callTool(call)).content).toEqual(HELLO);
});

test("where the gateway wants a token, a pipe is who its token says, and a client of its own is local", async () => {
  const token = "token-of-ada-0123456789ab";
  const { home, env, stdio, logIn, owners } = await scene({ auth: { clients: { ada: { token } } } });
  await startServe(home, env);
  const pipe = await connectV1({ ...stdio("--attach"), env: { ...env, GOBLIN_TOKEN: token } });
  const asked = linkIn(((await pipe.client.callTool(call)) as Answered).content[0]!.text);
  expect((await new Browser().open(asked)).text).toContain("Who are you?");
  const { client } = await connectV1(stdio());
  await logIn(linkIn(((await client.callTool(call)) as Answered).content[0]!.text));
  expect(await owners()).toEqual(["local"]);
  // Nobody's login stands in for another's.
  expect(((await pipe.client.callTool(call)) as Answered).content[0]!.text).toContain("/connect/");
});
