/** What pairing refuses, step by step, and what a theft costs the thief. */
import { afterEach, describe, expect, test } from "vitest";
import {
  Browser,
  handMade,
  type Paired,
  paired,
  REDIRECT,
  startPaired,
  type Tokens,
  ticketIn,
} from "../fixtures/pairing.ts";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";

afterEach(disposeAll);

const problemOf = async (answer: Response) => [answer.status, ((await answer.json()) as { error: string }).error];
const statusOf = async ({ goblin }: Paired, token: string) => {
  const client = rawHttp(goblin.url);
  client.headers = { authorization: `Bearer ${token}` };
  return (await client.initialize()).status;
};

describe("the authorization request", () => {
  test("a client that is not known, or an address that is not its own, gets no redirect", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const id = await client.register({ redirect_uris: ["https://app.example/cb", REDIRECT] });
    const urls = [
      client.authorizationUrl("nobody"),
      client.authorizationUrl(id, { redirect_uri: "https://app.example/cb/" }),
      client.authorizationUrl(id, { redirect_uri: "https://app.example/cb?x=1" }),
      client.authorizationUrl(id, { redirect_uri: "https://app.example.evil.example/cb" }),
      client.authorizationUrl(id, { redirect_uri: "http://127.0.0.1:9/callback/../evil" }),
      client.authorizationUrl(id, { redirect_uri: "http://127.0.0.1:9@evil.example/callback" }),
      client.authorizationUrl(id, { redirect_uri: "http://localhost:9/callback" }),
      client.authorizationUrl(id, { redirect_uri: undefined }),
      new URL(`${client.authorizationUrl(id)}&redirect_uri=https://evil.example`),
    ];
    for (const url of urls) {
      const answer = await new Browser().get(url);
      expect([url.search, answer.status, answer.headers.get("location")]).toEqual([url.search, 400, null]);
      expect(await answer.text()).toContain("This did not work");
    }
    // Another port of this machine is the same app.
    const other = client.authorizationUrl(id, { redirect_uri: "http://127.0.0.1:51234/callback" });
    expect((await new Browser().get(other)).status).toBe(200);
  });

  test("what else is wrong goes back to the client, with state and issuer", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const id = await client.register();
    const wrong: [Record<string, string | undefined>, string][] = [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge_method: undefined }, "invalid_request"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge: "short" }, "invalid_request"],
      [{ resource: "https://other.example/mcp" }, "invalid_target"],
      [{ request_uri: "https://evil.example/r" }, "request_not_supported"],
      [{ response_mode: "fragment" }, "invalid_request"],
    ];
    for (const [over, error] of wrong) {
      const answer = await new Browser().get(client.authorizationUrl(id, over));
      // A link, not a redirect: anybody could register an address to lead people to.
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
      const [, link] = /<a href="([^"]+)" rel="noreferrer">Go back to 127\.0\.0\.1:9</.exec(await answer.text())!;
      const location = new URL(link!.replaceAll("&#38;", "&"));
      expect(location.origin + location.pathname).toBe(REDIRECT);
      expect(Object.fromEntries(location.searchParams)).toMatchObject({ error, state: "s", iss: gateway.issuer });
    }
  });

  test("a document at a private address is not fetched, and nothing about the address is said", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    for (const id of [
      "https://127.0.0.1/client.json",
      "https://[::1]/client.json",
      "https://169.254.169.254/latest",
      "https://2130706433/client.json",
      "https://localhost/client.json",
      "http://example.com/client.json",
      "https://user:pass@example.com/client.json",
    ]) {
      const answer = await new Browser().get(client.authorizationUrl(id));
      expect([id, answer.status]).toEqual([id, 400]);
      expect(await answer.text()).toContain("The client&#39;s document cannot be read");
    }
    expect(gateway.warnings.join("\n")).toContain("private address");
  });
});

describe("the page", () => {
  test("a wrong code, a code twice, and one that is void after five attempts", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const url = client.authorizationUrl(await client.register());
    const browser = new Browser();
    const ticket = ticketIn(await (await browser.get(url)).text());
    const type = (code: string) => browser.submit(url, { ticket, code, choice: "allow" });
    const none = await type("00000000");
    expect([none.status, none.headers.get("location")]).toEqual([403, null]);
    const right = await gateway.code();
    const wrong = right.replace(/^./, (digit) => String((Number(digit) + 1) % 10));
    // What is no code at all costs no attempt.
    expect((await type("12")).status).toBe(403);
    for (let i = 0; i < 4; i++) expect((await type(wrong)).status).toBe(403);
    expect((await type(`${right.slice(0, 4)} ${right.slice(4)}`)).status).toBe(303);
    expect((await type(right)).status).toBe(403);
    const next = await startPaired();
    const again = handMade(next);
    const other = new Browser();
    const at = again.authorizationUrl(await again.register());
    const seal = ticketIn(await (await other.get(at)).text());
    const spoiled = await next.code();
    for (let i = 0; i < 5; i++)
      await other.submit(at, { ticket: seal, code: `9${spoiled.slice(1, 7)}x`, choice: "allow" });
    expect((await other.submit(at, { ticket: seal, code: spoiled, choice: "allow" })).status).toBe(403);
  });

  test("attempts are limited for each network, whatever the code", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const url = client.authorizationUrl(await client.register());
    const browser = new Browser();
    const ticket = ticketIn(await (await browser.get(url)).text());
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      statuses.push((await browser.submit(url, { ticket, code: "1", choice: "allow" })).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    expect((await browser.submit(url, { ticket, code: await gateway.code(), choice: "allow" })).status).toBe(429);
  });

  test("belongs to the browser that asked, and to this site", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const url = client.authorizationUrl(await client.register());
    const [own, other] = [new Browser(), new Browser()];
    const ticket = ticketIn(await (await own.get(url)).text());
    await other.get(url);
    const code = await gateway.code();
    const fields = { ticket, code, choice: "allow" };
    expect((await other.submit(url, fields)).status).toBe(400);
    expect((await own.submit(url, { ...fields, ticket: `${ticket.slice(0, -2)}AA` })).status).toBe(400);
    expect((await own.submit(url, fields, { origin: "https://evil.example" })).status).toBe(403);
    expect((await own.submit(url, fields, { origin: "null" })).status).toBe(403);
    expect((await own.submit(url, fields, { "sec-fetch-site": "cross-site" })).status).toBe(400);
    // None of that cost an attempt or used the code.
    expect((await own.submit(url, fields)).status).toBe(303);
  });

  test("cancel tells the client", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const url = client.authorizationUrl(await client.register());
    const browser = new Browser();
    const ticket = ticketIn(await (await browser.get(url)).text());
    const answer = await browser.submit(url, { ticket, choice: "deny" });
    expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?error=access_denied&.*state=s/);
  });

  test("shows a client's words as text, and cannot be framed or scripted", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const name = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202egnol`;
    const id = await client.register({
      client_name: name,
      redirect_uris: ["myapp://cb/?a='\"<b>".replace(/["<>]/g, "")],
    });
    const redirect = "myapp://cb/?a='b";
    const answer = await new Browser().get(client.authorizationUrl(id, { redirect_uri: redirect }));
    const page = await answer.text();
    expect(page).not.toMatch(/<script|<img|\u202e/);
    expect(page).toContain("&#60;script&#62;");
    expect(page).toContain("<b>myapp:</b>");
    const policy = answer.headers.get("content-security-policy");
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self' myapp:; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(answer.headers.get("x-frame-options")).toBe("DENY");
    expect(answer.headers.get("referrer-policy")).toBe("same-origin");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(page).not.toMatch(/<style|<[^>]* (style|on\w+)=|https?:/);
  });
});

describe("the code and the tokens", () => {
  test("only the same client with the same verifier and redirect gets tokens, once", async () => {
    const gateway = await startPaired();
    const client = handMade(gateway);
    const id = await client.register();
    const foreign = await client.register();
    const fresh = async () =>
      (await new Browser().consent(client.authorizationUrl(id), await gateway.code())).searchParams.get("code")!;
    const refused = [400, "invalid_grant"];
    expect(await problemOf(await client.exchange(foreign, await fresh()))).toEqual(refused);
    expect(await problemOf(await client.exchange(id, await fresh(), { code_verifier: "x".repeat(43) }))).toEqual(
      refused,
    );
    const other = { redirect_uri: "http://127.0.0.1:10/callback" };
    expect(await problemOf(await client.exchange(id, await fresh(), other))).toEqual(refused);
    const target = { resource: "https://other.example/mcp" };
    expect(await problemOf(await client.exchange(id, await fresh(), target))).toEqual([400, "invalid_target"]);
    expect(await problemOf(await client.exchange(id, "made-up"))).toEqual(refused);
    // A code that failed once is used up.
    const burnt = await fresh();
    await client.exchange(foreign, burnt);
    expect(await problemOf(await client.exchange(id, burnt))).toEqual(refused);
    expect((await gateway.store.read()).grants).toEqual([]);
  });

  test("a code that comes again ends what came of it", async () => {
    const gateway = await startPaired();
    const { client, clientId, code, tokens } = await paired(gateway);
    expect(await statusOf(gateway, tokens.access_token)).toBe(200);
    expect(await problemOf(await client.exchange(clientId, code))).toEqual([400, "invalid_grant"]);
    expect(await statusOf(gateway, tokens.access_token)).toBe(401);
    expect(await problemOf(await client.refresh(clientId, tokens.refresh_token))).toEqual([400, "invalid_grant"]);
    expect(gateway.warnings.join("\n")).toContain("came twice");
  });

  test("a lost answer can be had again; an old token that comes late ends the grant", async () => {
    const gateway = await startPaired();
    const { client, clientId, tokens: first } = await paired(gateway);
    const renew = async (token: string) => (await (await client.refresh(clientId, token)).json()) as Tokens;
    const [second, repeated] = await Promise.all([renew(first.refresh_token), renew(first.refresh_token)]);
    expect(second.refresh_token).toBe(repeated.refresh_token);
    const third = await renew(second.refresh_token);
    expect(await statusOf(gateway, third.access_token)).toBe(200);
    // Made up, or of another client: nobody can end a grant with that.
    const forged = `${third.refresh_token.slice(0, -3)}AAA`;
    expect(await problemOf(await client.refresh(clientId, forged))).toEqual([400, "invalid_grant"]);
    expect(await problemOf(await client.refresh(await client.register(), third.refresh_token))).toEqual([
      400,
      "invalid_grant",
    ]);
    expect(await statusOf(gateway, third.access_token)).toBe(200);
    expect(await problemOf(await client.refresh(clientId, first.refresh_token))).toEqual([400, "invalid_grant"]);
    expect(await statusOf(gateway, third.access_token)).toBe(401);
    expect(await problemOf(await client.refresh(clientId, third.refresh_token))).toEqual([400, "invalid_grant"]);
  });

  test("a client can end its own grant, and nobody else's", async () => {
    const gateway = await startPaired();
    const [one, two] = [await paired(gateway), await paired(gateway)];
    expect((await one.client.revoke(two.tokens.refresh_token, { client_id: one.clientId })).status).toBe(400);
    expect((await one.client.revoke("unknown")).status).toBe(200);
    expect(await statusOf(gateway, two.tokens.access_token)).toBe(200);
    expect((await one.client.revoke(one.tokens.access_token, { client_id: one.clientId })).status).toBe(200);
    expect(await statusOf(gateway, one.tokens.access_token)).toBe(401);
    expect(await statusOf(gateway, two.tokens.access_token)).toBe(200);
  });

  test("tokens open clients' routes only, and only here", async () => {
    const gateway = await startPaired();
    const { tokens } = await paired(gateway);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await fetch(`${gateway.issuer}/api/state`, { headers })).status).toBe(403);
    expect((await fetch(`${gateway.issuer}/metrics`, { headers })).status).toBe(200);
    const other = await startPaired({ env: gateway.env });
    expect(await statusOf(other, tokens.access_token)).toBe(401);
    expect((await fetch(`${gateway.issuer}/mcp?access_token=${tokens.access_token}`, { method: "POST" })).status).toBe(
      401,
    );
  });
});

describe("registration", () => {
  test("is refused with the standard's words", async () => {
    const gateway = await startPaired();
    const send = async (body: unknown, type = "application/json") =>
      problemOf(
        await fetch(`${gateway.issuer}/oauth/register`, {
          method: "POST",
          headers: { "content-type": type },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      );
    for (const uri of [
      "http://app.example/cb",
      "javascript:alert(1)",
      "https://a.example/#x",
      "https://u:p@a.example/",
      "x",
    ])
      expect([uri, ...(await send({ redirect_uris: [uri] }))]).toEqual([uri, 400, "invalid_redirect_uri"]);
    expect(await send({ redirect_uris: [] })).toEqual([400, "invalid_redirect_uri"]);
    expect(await send({ redirect_uris: [REDIRECT], grant_types: ["implicit"] })).toEqual([
      400,
      "invalid_client_metadata",
    ]);
    expect(await send("{")).toEqual([400, "invalid_client_metadata"]);
    expect(await send("{}", "text/plain")).toEqual([400, "invalid_client_metadata"]);
    expect(await send({ redirect_uris: [REDIRECT], client_name: "x".repeat(70_000) })).toEqual([
      413,
      "invalid_request",
    ]);
  });

  test("A-M10: a flood from one network fills no memory, and does not keep the owner's client out", async () => {
    const gateway = await startPaired();
    const stranger = handMade(gateway);
    for (let i = 0; i < 30; i++) await stranger.register();
    expect((await gateway.store.read()).clients).toHaveLength(10);
    const { client, clientId, tokens } = await paired(gateway);
    expect(clientId.length).toBeGreaterThan(100);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await fetch(`${gateway.issuer}/metrics`, { headers })).status).toBe(200);
    expect((await client.refresh(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test("A-M10: an id that nobody sealed here is not a client", async () => {
    const gateway = await startPaired();
    const url = `${gateway.issuer}/oauth/authorize?client_id=${"A".repeat(200)}&redirect_uri=http://127.0.0.1:9/callback`;
    expect(await (await fetch(url)).text()).toContain("This client is not registered here any more");
  });
});
