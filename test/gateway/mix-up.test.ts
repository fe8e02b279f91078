/**
 * A hostile server tries to get hold of a login at an honest one: it sends the browser on to the
 * honest authorization server, and hopes for the code and its verifier (OAuth mix-up, RFC 9700).
 */
import { afterEach, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { Browser, leadsTo } from "../fixtures/browser.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { type AuthorizationServer, startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";

afterEach(disposeAll);

/** Has an authorization server not say who answers, as many still do not. */
async function withoutIss(server: AuthorizationServer, asked: (path: string, body: string) => void): Promise<void> {
  const known = await fetch(`${server.url}/.well-known/oauth-authorization-server`);
  const { authorization_response_iss_parameter_supported: _, ...metadata } = (await known.json()) as object & {
    authorization_response_iss_parameter_supported?: boolean;
  };
  server.intercept = (request, response) => {
    if (request.url === "/token") {
      request.on("data", (chunk: Buffer) => asked("/token", chunk.toString("utf8")));
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      return true;
    }
    if (!request.url?.startsWith("/.well-known/")) return false;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
    return true;
  };
}

test("a code of one authorization server never goes to another", async () => {
  const [honest, hostile, behind] = await Promise.all([startOidc(), startOidc(), startScripted({ transport: "http" })]);
  const good = await startGuarded({ behind: behind.url, issuer: honest.url, scope: "mcp:use" });
  const evil = await startGuarded({ behind: behind.url, issuer: hostile.url, scope: "mcp:use" });
  const stolen: string[] = [];
  await withoutIss(hostile, (_path, body) => stolen.push(body));
  const env = stateEnv();
  const mcpServers = { good: { url: good.url }, evil: { url: evil.url } };
  const goblin = await startGoblin({ mcpServers }, { logins: await loginsOf(env) });
  const asked = await fetch(`${goblin.origin}/api/servers/good/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  const { url: link } = (await asked.json()) as { url: string };
  const browser = new Browser();
  await browser.open(link);
  // The gateway registers at the honest one; a document's address would be public anyway.
  const own = new URL(leadsTo(await browser.submit(link, { server: "good" })));
  const { registrations } = await (await LoginStore.open(env)).read();
  expect(JSON.stringify(registrations)).toContain(own.searchParams.get("client_id"));
  const begun = new URL(leadsTo(await browser.submit(link, { server: "evil" })));
  // The hostile one sends the browser on, with its own challenge and state.
  const on = new URL(own);
  for (const name of ["state", "code_challenge"]) on.searchParams.set(name, begun.searchParams.get(name)!);
  const back = await honest.login(on);
  const code = back.searchParams.get("code")!;
  back.searchParams.delete("iss");
  const page = await browser.open(back.href);
  expect(stolen.join("\n")).not.toContain(code);
  expect(stolen).toEqual([]);
  expect(page.text).toMatch(/Login to server &#34;evil&#34;: reading the redirect of the browser: it leads to/);
  // A document of the gateway is for one issuer, too.
  const tag = back.pathname.split("/").at(-1);
  const document = await fetch(`${goblin.origin}/connect/client/${tag}.json`);
  expect(await document.json()).toMatchObject({
    client_id: `${goblin.origin}/connect/client/${tag}.json`,
    redirect_uris: [`${goblin.origin}/connect/callback/${tag}`],
  });
  // The honest login still works.
  const again = await honest.login(leadsTo(await browser.submit(link, { server: "good" })));
  expect((await browser.open(again.href)).text).toContain("Logged in to good.");
});
