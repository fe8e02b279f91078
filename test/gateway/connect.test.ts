import type { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, test } from "vitest";
import { rawText } from "../../src/mcp/protocol/json-rpc.ts";
import { ANYONE } from "../../src/mcp/protocol/principal.ts";
import { emptyLists } from "../../src/upstream/catalog/definitions.ts";
import { Browser, leadsTo, type Shown } from "../fixtures/browser.ts";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { type GuardedServer, startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

interface Scene {
  readonly oidc: AuthorizationServer;
  readonly guarded: GuardedServer;
  readonly goblin: RunningGoblin;
}

async function scene(
  gateway: Record<string, unknown> = {},
  others: Record<string, unknown> = {},
  alike: readonly string[] = [],
): Promise<Scene> {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const logins = await loginsOf(stateEnv());
  const guardedToo = Object.fromEntries(alike.map((id) => [id, { url: guarded.url }]));
  const mcpServers = { remote: { url: guarded.url }, ...guardedToo, ...others };
  const goblin = await startGoblin({ mcpServers, gateway }, { logins });
  return { oidc, guarded, goblin };
}

/** Logs in as a person who was given the link. */
async function visit(link: string, { oidc }: Scene, browser = new Browser()): Promise<Shown> {
  const page = await browser.open(link);
  expect(page.text).toContain("remote");
  const redirect = await oidc.login(leadsTo(await browser.submit(link, { server: "remote" })));
  return browser.open(redirect.href);
}

const call = { name: "remote_echo", arguments: { text: "hello" } };
const linkIn = (text: string): string => /http\S+\/connect\/[\w-]+/.exec(text)![0];
/** A client that can open no links gets the link in words. */
async function linkFor({ goblin }: Scene, headers: Record<string, string> = {}): Promise<string> {
  const { client } = await connectV1({ url: goblin.url, headers });
  const { content } = (await client.callTool(call)) as { content: { text: string }[] };
  return linkIn(content[0]!.text);
}

test("a client of today is asked to open a link, and its call goes on after the login", async () => {
  const here = await scene();
  const asked: Record<string, unknown>[] = [];
  const { client } = await connectV2({
    url: here.goblin.url,
    era: "modern",
    elicitation: (params) => {
      asked.push(params);
      // The user takes a while: the client repeats its request before the login is done.
      setTimeout(() => void visit(params["url"], here), 300);
      return { action: "accept" };
    },
  });
  const result = await client.callTool(call);
  expect(asked).toEqual([
    {
      mode: "url",
      url: expect.stringMatching(new RegExp(`^${here.goblin.origin}/connect/[\\w-]+$`)),
      message: 'Server "remote" needs a login. Log in on this page.',
    },
  ]);
  expect(result.content).toEqual([{ type: "text", text: '{"text":"hello"}' }]);
});

test("a user who does not want to log in is asked once", async () => {
  const here = await scene();
  let asked = 0;
  const { client } = await connectV2({
    url: here.goblin.url,
    era: "modern",
    elicitation: () => {
      asked++;
      return { action: "decline" };
    },
  });
  const { isError, content } = (await client.callTool(call)) as { isError: boolean; content: { text: string }[] };
  expect(isError).toBe(true);
  expect(content[0]!.text).toContain('Server "remote" needs a login: the user must open');
  expect(asked).toBe(1);
});

test.each([
  { what: "v1", connect: connectV1 },
  { what: "v2", connect: (options: Parameters<typeof connectV2>[0]) => connectV2({ ...options, era: "legacy" }) },
])("a client of SDK $what with a session gets the links as an error, and hears of the login", async ({ connect }) => {
  const here = await scene();
  const { client, notifications } = await connect({ url: here.goblin.url, elicitation: () => ({ action: "accept" }) });
  const error = await (client.callTool(call) as Promise<unknown>).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: -32042 });
  const { elicitations } = (error as UrlElicitationRequiredError & { data: { elicitations: never[] } }).data as {
    elicitations: { url: string; elicitationId: string; mode: string }[];
  };
  expect(elicitations).toMatchObject([{ mode: "url", message: 'Server "remote" needs a login. Log in on this page.' }]);
  await visit(elicitations[0]!.url, here);
  await until(() => notifications.some(({ method }) => method === "notifications/elicitation/complete"));
  expect(notifications.find(({ method }) => method === "notifications/elicitation/complete")?.params).toEqual({
    elicitationId: elicitations[0]!.elicitationId,
  });
  expect(((await client.callTool(call)) as { content: unknown }).content).toEqual([
    { type: "text", text: '{"text":"hello"}' },
  ]);
});

test("a client that opens no links gets the link in one sentence", async () => {
  const here = await scene();
  const { client } = await connectV1({ url: here.goblin.url });
  const { content, isError } = (await client.callTool(call)) as { content: { text: string }[]; isError: boolean };
  expect(isError).toBe(true);
  const link = linkIn(content[0]!.text);
  expect(content[0]!.text).toBe(
    `Server "remote" needs a login: the user must open ${link} and then repeat the request.`,
  );
  expect((await visit(link, here)).text).toMatch(/Logged in to remote\.[\s\S]*No server waits/);
  expect(((await client.callTool(call)) as { content: unknown }).content).toEqual([
    { type: "text", text: '{"text":"hello"}' },
  ]);
});

test("a call in the moment of the login goes to the server, however long the catalog takes", async () => {
  const here = await scene({}, { open: { url: (await startScripted({ transport: "http" })).url } });
  const { catalog, servers, callTool } = here.goblin.gateway;
  const tools = (round: number) =>
    Array.from({ length: 5000 }, (_, n) => {
      const value = { name: `t${round}_${n}`, inputSchema: { type: "object" } };
      return { value, text: JSON.stringify(value) };
    });
  const link = await linkFor(here);
  const answers: ReturnType<typeof callTool>[] = [];
  // From now on until the login, a snapshot is under way.
  let round = 0;
  const change = (): void => {
    if (answers.length === 0) catalog.update("open", { ...emptyLists, tools: tools(++round) });
  };
  catalog.on("snapshot", change);
  change();
  servers.on("loggedIn", () => answers.push(callTool(call, { name: "test", principal: ANYONE })));
  await visit(link, here);
  expect(answers).toHaveLength(1);
  expect(rawText((await answers[0]!).raw)).toContain("hello");
});

test("the page lists every server that waits, and nothing that a server sends is HTML", async () => {
  const here = await scene({}, { open: { url: (await startScripted({ transport: "http" })).url } }, ["other"]);
  const browser = new Browser();
  const link = await linkFor(here);
  const { text, headers } = await browser.open(link);
  expect(text.match(/name="server"/g)).toHaveLength(2);
  expect(text).toMatch(/value="remote"[\s\S]*value="other"/);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(text).not.toMatch(/<script|style=|onclick/);
  expect((await browser.open(new URL("style.css", link).href)).headers.get("content-type")).toBe(
    "text/css; charset=utf-8",
  );
  here.oidc.intercept = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"issuer":"<script>alert(1)</script>"}');
    return true;
  };
  const failed = await browser.submit(link, { server: "remote" });
  expect(failed.text).toContain("is of another issuer, &#34;&#60;script&#62;");
  expect(failed.text).not.toContain("<script");
});

test("a redirect counts in the browser that began the login, once", async () => {
  const here = await scene();
  const link = await linkFor(here);
  const [mine, other] = [new Browser(), new Browser()];
  await mine.open(link);
  await other.open(link);
  const redirect = (await here.oidc.login(leadsTo(await mine.submit(link, { server: "remote" })))).href;
  expect((await other.open(redirect)).status).toBe(400);
  expect((await new Browser().open(redirect)).text).toContain("It was not begun in this browser");
  expect((await mine.open(redirect)).text).toContain("Logged in to remote.");
  expect((await mine.open(redirect)).status).toBe(400);
});

test("forms of other pages, changed links and other addresses are refused", async () => {
  const here = await scene();
  const link = await linkFor(here);
  const browser = new Browser();
  await browser.open(link);
  expect((await browser.submit(link, { server: "remote" }, "https://evil.example")).status).toBe(403);
  expect((await browser.submit(link, { server: "remote" }, "null")).status).toBe(403);
  expect((await new Browser().submit(link, { server: "remote" })).text).toContain("Cookies are needed");
  expect((await browser.submit(link, { server: "x".repeat(20_000) })).status).toBe(413);
  const changed = link.slice(0, -4) + (link.endsWith("AAAA") ? "BBBB" : "AAAA");
  expect((await browser.open(changed)).text).toContain("This link is not valid");
  expect((await browser.open(`${here.goblin.origin}/connect/..%2f..%2fmcp`)).status).toBe(404);
  const named = await fetch(link.replace("127.0.0.1", "localhost"), { redirect: "manual" });
  expect(named.headers.get("location")).toBe(link);
  expect(await fetch(link, { method: "DELETE" }).then(({ status }) => status)).toBe(405);
});

const clients = {
  alice: { token: "token-of-alice-0123456789", admin: true },
  bob: { token: "token-of-bob-0123456789-x" },
  carol: { token: "token-of-carol-0123456789", admin: true },
};
const as = (name: keyof typeof clients) => ({ authorization: `Bearer ${clients[name].token}` });

test("where tokens are needed, a link opens for its own principal only", async () => {
  const here = await scene({ auth: { clients } });
  const link = await linkFor(here, as("alice"));
  const hers = await linkFor(here, as("carol"));
  const stranger = new Browser();
  const asked = await stranger.open(link);
  expect(asked.text).toContain("Who are you?");
  expect(asked.text).not.toContain("remote");
  expect((await stranger.submit(link, { server: "remote" })).text).not.toContain("refresh");
  for (const token of ["wrong", clients.bob.token, clients.carol.token]) {
    const refused = await stranger.submit(link, { token });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("does not belong to the user")]);
  }
  const browser = new Browser();
  expect((await browser.submit(link, { token: clients.alice.token })).text).toContain("remote");
  expect((await visit(link, here, browser)).text).toContain("Logged in to remote.");
  const other = await browser.open(hers);
  expect([other.status, other.text]).toEqual([403, expect.stringContaining("another user of the gateway")]);
});

test("a cookie that another page of this host planted makes nobody somebody else", async () => {
  const here = await scene({ auth: { clients } });
  const [hers, his] = [await linkFor(here, as("alice")), await linkFor(here, as("carol"))];
  const [enemy, victim] = [new Browser(), new Browser()];
  await enemy.submit(his, { token: clients.carol.token });
  await victim.submit(hers, { token: clients.alice.token });
  const [planted, own] = [enemy, victim].map(({ cookies }) => cookies.get("goblin-connect")!);
  // A more specific path puts the planted one first; the browser sends both.
  const cookie = `goblin-connect=${planted}; goblin-connect=${own}`;
  for (const link of [hers, his]) {
    const page = await fetch(link, { headers: { cookie } });
    const text = await page.text();
    expect(text).toContain("Who are you?");
    expect(text).not.toContain('value="remote"');
  }
  // One that was there before the proof is worth nothing after it.
  const fresh = new Browser();
  fresh.cookies.set("goblin-connect", planted!);
  await fresh.submit(hers, { token: clients.alice.token });
  expect(fresh.cookies.get("goblin-connect")).not.toBe(planted);
  expect((await enemy.open(hers)).status).toBe(403);
});

test("behind TLS, no other host of the domain can set the cookie", async () => {
  const here = await scene({ publicUrl: "https://goblin.example" });
  const link = (await linkFor(here)).replace("https://goblin.example", here.goblin.origin);
  const page = await fetch(link, { headers: { "x-forwarded-proto": "https" } });
  const [cookie] = page.headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-goblin-connect=[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600$/);
});

test("who may not administer the gateway cannot log in for all others", async () => {
  const here = await scene({ auth: { clients } });
  const { client } = await connectV1({ url: here.goblin.url, headers: as("bob") });
  await expect(client.callTool(call)).rejects.toMatchObject({
    message: expect.stringContaining('Server "remote" needs a login: run "goblin login remote"'),
  });
});

test("an operator gets the link from the API, and the server is ready after the login", async () => {
  const here = await scene();
  const ask = (id: string) =>
    fetch(`${here.goblin.origin}/api/servers/${id}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
  const { url } = (await (await ask("remote")).json()) as { url: string };
  await visit(url, here);
  const state = async () => {
    const { items } = (await (await fetch(`${here.goblin.origin}/api/servers`)).json()) as {
      items: { state: string }[];
    };
    return items[0]!.state;
  };
  await until(async () => (await state()) === "ready");
  expect((await ask("nobody")).status).toBe(404);
});

test("a server without a login has no link", async () => {
  const server = await startScripted({ name: "plain" });
  const goblin = await startGoblin({ mcpServers: { plain: server.entry } }, { logins: await loginsOf(stateEnv()) });
  const answer = await fetch(`${goblin.origin}/api/servers/plain/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(409);
  expect(await answer.text()).toContain("goblin auth");
});

test("A-M6: the page knows only the servers that the principal may see", async () => {
  const vault = { url: "http://127.0.0.1:9/mcp", auth: { as: "caller" } };
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const goblin = await startGoblin(
    {
      mcpServers: { remote: { url: guarded.url, auth: { as: "caller" } }, vault },
      profiles: { surf: { servers: ["remote"] } },
      policy: { rules: [{ effect: "deny", who: { clients: ["ruled"] }, server: "vault" }] },
      gateway: {
        auth: {
          clients: {
            limited: { token: "token-of-limited-01234", profile: "surf" },
            ruled: { token: "token-of-ruled-0123456" },
            free: { token: "token-of-free-01234567" },
          },
        },
      },
    },
    { logins: await loginsOf(stateEnv()) },
  );
  const here = { oidc, guarded, goblin };
  const opened = async (token: string) => {
    const link = await linkFor(here, { authorization: `Bearer ${token}` });
    const browser = new Browser();
    return { link, browser, page: await browser.submit(link, { token }) };
  };
  for (const token of ["token-of-limited-01234", "token-of-ruled-0123456"]) {
    const { link, browser, page } = await opened(token);
    expect(page.text).toContain("remote");
    expect(page.text).not.toContain("vault");
    const hidden = await browser.submit(link, { server: "vault" });
    const unknown = await browser.submit(link, { server: "nobody" });
    expect(hidden.text).toContain("This server asks for no login now.");
    expect(hidden.text).toBe(unknown.text);
  }
  expect((await opened("token-of-free-01234567")).page.text).toContain("vault");
});
