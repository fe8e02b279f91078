/**
 * Who opens a link must be who got it: people whose clients came with OAuth, or were paired, show
 * that without a token that they never saw.
 */
import { createHash, randomBytes } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { newCode } from "../../src/auth/pairing/codes.ts";
import { Pairing } from "../../src/auth/pairing/pairing.ts";
import { PairingStore } from "../../src/auth/pairing/store.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { Browser, leadsTo, type Shown } from "../fixtures/browser.ts";
import { connectV1, connectV2 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { handMade, type Paired, Browser as PairingBrowser, type Tokens, ticketIn } from "../fixtures/pairing.ts";
import { startScripted } from "../fixtures/scripted.ts";

afterEach(disposeAll);

const call = { name: "remote_echo", arguments: { text: "hello" } };
const CALLBACK = "http://127.0.0.1:9/callback";

async function register(idp: AuthorizationServer, redirectUri: string): Promise<string> {
  const answer = await fetch(`${idp.url}/reg`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [redirectUri], application_type: "native" }),
  });
  return ((await answer.json()) as { client_id: string }).client_id;
}

/** The access token that a client of this person gets for the gateway. */
async function tokenFor(idp: AuthorizationServer, account: string, resource: string): Promise<string> {
  const clientId = await register(idp, CALLBACK);
  const verifier = randomBytes(32).toString("base64url");
  const asked = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: CALLBACK,
    scope: "mcp:use mcp:admin",
    resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const back = await idp.login(`${idp.url}/auth?${new URLSearchParams(asked)}`, account);
  const answer = await fetch(`${idp.url}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      redirect_uri: CALLBACK,
      code: back.searchParams.get("code")!,
      code_verifier: verifier,
      resource,
    }),
  });
  return ((await answer.json()) as Tokens).access_token;
}

interface SceneOptions {
  /** Whether the gateway is a client of the issuer. */
  readonly isClient?: boolean;
  readonly as?: "caller" | "gateway";
}

/** A gateway behind one issuer, with a server that another one guards. */
async function scene({ isClient = true, as = "caller" }: SceneOptions = {}) {
  const [idp, oidc, behind] = await Promise.all([startOidc(), startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  const mcpServers = { remote: { url: guarded.url, auth: { as } } };
  const goblin = await startGoblin({ mcpServers }, { logins: await loginsOf(env), state: env });
  const login = isClient ? { clientId: await register(idp, `${goblin.origin}/connect/identity`) } : undefined;
  const oauth = {
    issuers: [{ issuer: idp.url, requiredScopes: ["mcp:use"], ...(login && { login }) }],
    adminScope: "mcp:admin",
  };
  const gateway = { port: 0, publicUrl: goblin.origin, auth: { oauth } };
  const text = JSON.stringify({ mcpServers, gateway });
  await goblin.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
  const headersOf = async (account: string) => ({
    authorization: `Bearer ${await tokenFor(idp, account, goblin.url)}`,
  });
  /** The link that a call of this person's client gives. */
  const linkOf = async (account: string): Promise<string> => {
    const { client } = await connectV1({ url: goblin.url, headers: await headersOf(account) });
    const { content } = (await client.callTool(call)) as { content: { text: string }[] };
    return /http\S+\/connect\/[\w-]+/.exec(content[0]!.text)![0];
  };
  /** Opens a link, and follows the way to the issuer and back. */
  const open = async (link: string, account: string, browser = new Browser()): Promise<Shown> => {
    const back = await idp.login(leadsTo(await browser.open(link)), account);
    expect(back.href).toMatch(`${goblin.origin}/connect/identity?`);
    return browser.open(back.href);
  };
  return { idp, oidc, goblin, guarded, linkOf, open, headersOf };
}

test("a person whose client came with OAuth logs in where the client did, and the call goes on", async () => {
  const here = await scene();
  const { client } = await connectV2({
    url: here.goblin.url,
    headers: await here.headersOf("ada"),
    era: "modern",
    elicitation: ({ url }) => {
      void (async () => {
        const browser = new Browser();
        const page = await here.open(url, "ada", browser);
        expect(page.text).toMatch(/You are <strong>ada<\/strong>[\s\S]*value="remote"/);
        const at = await here.oidc.login(leadsTo(await browser.submit(url, { server: "remote" })), "ada-at-remote");
        expect((await browser.open(at.href)).text).toContain("Logged in to remote.");
      })();
      return { action: "accept" };
    },
  });
  expect((await client.callTool(call)).content).toEqual([{ type: "text", text: '{"text":"hello"}' }]);
  // Nobody else has that login.
  expect(await here.linkOf("eve")).toContain("/connect/");
});

test("a link that another person opens, or is sent, is good for nothing", async () => {
  const here = await scene();
  const link = await here.linkOf("ada");
  const eve = new Browser();
  const refused = await here.open(link, "eve", eve);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("belongs to another user")]);
  expect(refused.text).not.toContain("remote");
  expect((await eve.submit(link, { server: "remote" })).text).not.toContain('value="remote"');
  // She may be a person with two accounts: then the issuer asks again.
  const again = leadsTo(await eve.submit(link, { again: "1" }));
  expect(new URL(again).searchParams.get("prompt")).toBe("login");
  expect((await eve.open((await here.idp.login(again, "ada")).href)).text).toContain('value="remote"');
});

test("a browser that is one person's does not become another's unasked", async () => {
  const here = await scene();
  const [hers, his] = [await here.linkOf("ada"), await here.linkOf("bob")];
  const browser = new Browser();
  await here.open(hers, "ada", browser);
  const page = await browser.open(his);
  expect([page.status, page.text]).toEqual([403, expect.stringContaining("belongs to another user")]);
  expect(page.text).not.toContain("http-equiv");
});

test("a way to the issuer ends in the browser that began it, with the answer to its own question", async () => {
  const here = await scene();
  const link = await here.linkOf("ada");
  const [mine, other] = [new Browser(), new Browser()];
  const back = await here.idp.login(leadsTo(await mine.open(link)), "ada");
  await other.open(link);
  expect((await other.open(back.href)).status).toBe(400);
  expect((await new Browser().open(back.href)).status).toBe(400);
  // Somebody else's answer from the issuer in place of one's own.
  const injected = await here.idp.login(leadsTo(await other.open(link)), "ada");
  const mixed = new URL(back);
  mixed.searchParams.set("code", injected.searchParams.get("code")!);
  expect((await mine.open(mixed.href)).status).toBe(502);
  const foreign = new URL(back);
  foreign.searchParams.set("iss", "https://evil.example");
  expect((await mine.open(foreign.href)).text).toContain("reading the redirect of the browser");
  expect((await mine.open(back.href)).text).toContain('value="remote"');
  // The browser has a new cookie since, so the old answer is worth nothing.
  expect((await mine.open(back.href)).status).toBe(400);
});

test("a login that the issuer refuses is told in words, and can be repeated", async () => {
  const here = await scene();
  const link = await here.linkOf("ada");
  const browser = new Browser();
  const to = new URL(leadsTo(await browser.open(link)));
  const state = to.searchParams.get("state")!;
  const denied = new URLSearchParams({ state, error: "access_denied", iss: here.idp.url });
  const page = await browser.open(`${here.goblin.origin}/connect/identity?${denied}`);
  expect([page.status, page.text]).toEqual([502, expect.stringContaining("access_denied")]);
  here.idp.intercept = (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>down</h1>");
    return true;
  };
  expect((await browser.open(link)).text).toMatch(/Your login: reading the metadata of .* not a JSON object/);
});

test("who administers the gateway by a scope logs in for all", async () => {
  const here = await scene({ as: "gateway" });
  const link = await here.linkOf("ada");
  const browser = new Browser();
  const page = await here.open(link, "ada", browser);
  expect(page.text).toContain("serves every client of this gateway");
});

test("where nothing else can show it, the page asks for the token and says why", async () => {
  const here = await scene({ isClient: false });
  const link = await here.linkOf("ada");
  const browser = new Browser();
  const page = await browser.open(link);
  expect(page.text).toMatch(/enter the token that your client uses[\s\S]*Your client got it when you logged in/);
  const { authorization } = await here.headersOf("ada");
  const open = await browser.submit(link, { token: authorization.slice("Bearer ".length) });
  expect(open.text).toContain('value="remote"');
});

/** A gateway with pairing, and a client that was let in, in this browser. */
async function pairedScene() {
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const env = stateEnv();
  const pairing = new Pairing({ env, warn: () => {} });
  const mcpServers = { remote: { url: guarded.url, auth: { as: "caller" } } };
  const goblin = await startGoblin({ mcpServers }, { logins: await loginsOf(env), state: env, pairing });
  const gateway = { port: 0, publicUrl: goblin.origin, auth: { pairing: true } };
  const text = JSON.stringify({ mcpServers, gateway });
  await goblin.gateway.reload(parseConfig(text, { file: "test.json", env: {} }).config).done;
  const store = await PairingStore.open(env);
  const code = async () => (await newCode(store, goblin.origin, Date.now())).code;
  const letIn = async (browser: PairingBrowser): Promise<string> => {
    const client = handMade({ issuer: goblin.origin } as Paired);
    const clientId = await client.register();
    const url = client.authorizationUrl(clientId);
    const ticket = ticketIn(await (await browser.get(url)).text());
    const left = await browser.submit(url, { ticket, code: await code(), choice: "allow" });
    const given = new URL(left.headers.get("location")!).searchParams.get("code")!;
    const { access_token: token } = (await (await client.exchange(clientId, given)).json()) as Tokens;
    const { client: mcp } = await connectV1({ url: goblin.url, headers: { authorization: `Bearer ${token}` } });
    const { content } = (await mcp.callTool(call)) as { content: { text: string }[] };
    return /http\S+\/connect\/[\w-]+/.exec(content[0]!.text)![0];
  };
  return { goblin, code, letIn, oidc };
}

test("the browser that let a client in opens its links; another one needs a code", async () => {
  const here = await pairedScene();
  const person = new PairingBrowser();
  const link = await here.letIn(person);
  const opened = await person.get(link);
  expect(opened.status).toBe(303);
  expect(await (await person.get(opened.headers.get("location")!)).text()).toContain('value="remote"');

  const elsewhere = new Browser();
  const page = await elsewhere.open(link);
  expect(page.text).toMatch(/goblin pair[\s\S]*name="code"/);
  expect(page.text).not.toContain("remote");
  const right = await here.code();
  const wrong = right.replace(/^./, (digit) => String((Number(digit) + 1) % 10));
  const refused = await elsewhere.submit(link, { code: wrong });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("That is not the code")]);
  expect((await elsewhere.submit(link, { code: right })).text).toContain('value="remote"');
  // A code is good once.
  expect((await new Browser().submit(link, { code: right })).status).toBe(403);
});

test("the browser of one paired client opens no link of another", async () => {
  const here = await pairedScene();
  const [first, second] = [new PairingBrowser(), new PairingBrowser()];
  const link = await here.letIn(first);
  await here.letIn(second);
  expect(await (await second.get(link)).text()).toContain('name="code"');
});
