/** Access tokens: who is let in by which token, and what a refusal says to whom. */
import * as jose from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { behind, METADATA } from "../../fixtures/behind-issuers.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { AUDIENCE, type Issuer, proofMaker, startIssuer } from "../../fixtures/issuer.ts";
import { disposeAll, rawHttp } from "../../fixtures/peers.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

test("the metadata says which resource this is and who issues tokens for it", async () => {
  const issuer = await startIssuer();
  const { goblin } = await behind(issuer, { issuer: { requiredScopes: ["mcp:use"] } });
  for (const path of ["", "/mcp"]) {
    const answer = await fetch(`${goblin.origin}/.well-known/oauth-protected-resource${path}`);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(await answer.json()).toMatchObject({
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
      scopes_supported: ["mcp:use"],
      bearer_methods_supported: ["header"],
    });
  }
  const open = await startGoblin({ mcpServers: {} });
  expect((await fetch(`${open.origin}/.well-known/oauth-protected-resource`)).status).toBe(404);
});

test("every route asks for a token in the same way", async () => {
  const { goblin } = await behind(await startIssuer());
  const routes = [
    ["POST", "/mcp"],
    ["GET", "/mcp"],
    ["DELETE", "/mcp"],
    ["GET", "/sse"],
    ["POST", "/messages"],
    ["GET", "/api/state"],
    ["GET", "/metrics"],
    ["GET", "/openapi.json"],
  ] as const;
  for (const [method, path] of routes) {
    const answer = await fetch(goblin.origin + path, { method });
    const endpoint = ["/sse", "/messages"].includes(path) ? METADATA.replace("/mcp", "/sse") : METADATA;
    expect([path, answer.status, answer.headers.get("www-authenticate")]).toEqual([
      path,
      401,
      `Bearer realm="goblin", resource_metadata="${endpoint}"`,
    ]);
  }
  expect((await fetch(`${goblin.origin}/health`)).status).toBe(200);
});

test("a good token opens a session; the same principal keeps it with a new token, nobody else gets it", async () => {
  const issuer = await startIssuer();
  const { opened } = await behind(issuer);
  const { client, status } = await opened(await issuer.sign());
  expect(status).toBe(200);
  const list = async (token: string) => {
    client.headers = { ...client.headers, authorization: `Bearer ${token}` };
    return (await client.post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).status;
  };
  expect(await list(await issuer.sign({ claims: { jti: "renewed" } }))).toBe(200);
  expect(await list(await issuer.sign({ claims: { sub: "bob" } }))).toBe(404);
  expect(await list(await issuer.sign())).toBe(200);
});

describe("refused", () => {
  const attempts: [string, (issuer: Issuer, other: Issuer) => Promise<string>, RegExp][] = [
    ["expired", (issuer) => issuer.sign({ lifeSeconds: -120 }), /"exp" claim timestamp check failed/],
    ["not valid yet", (issuer) => issuer.sign({ claims: { nbf: Date.now() / 1000 + 3600 } }), /"nbf" claim/],
    ["without an end", (issuer) => issuer.sign({ claims: { exp: undefined } }), /"exp"/],
    ["for another audience", (issuer) => issuer.sign({ claims: { aud: "https://other.example" } }), /"aud" claim/],
    ["for no audience", (issuer) => issuer.sign({ claims: { aud: undefined } }), /"aud"/],
    ["of an unknown issuer", (issuer) => issuer.sign({ claims: { iss: "https://evil.example" } }), /not configured/],
    [
      "of an issuer with a slash more",
      (issuer) => issuer.sign({ claims: { iss: `${issuer.url}/` } }),
      /not configured/,
    ],
    ["in another issuer's name", (issuer, other) => other.sign({ claims: { iss: issuer.url } }), /no applicable key/],
    ["of another type", (issuer) => issuer.sign({ header: { typ: "dpop+jwt" } }), /has the type/],
    [
      "unsigned",
      async (issuer) => {
        const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
        const exp = Math.floor(Date.now() / 1000) + 600;
        return `${encode({ alg: "none" })}.${encode({ iss: issuer.url, aud: AUDIENCE, sub: "alice", exp })}.`;
      },
      /alg|algorithm/i,
    ],
    [
      "signed with the public key as a secret",
      async (issuer) => {
        const { keys } = (await (await fetch(`${issuer.url}/keys`)).json()) as { keys: { kid: string }[] };
        const now = Math.floor(Date.now() / 1000);
        return new jose.SignJWT({ iss: issuer.url, aud: AUDIENCE, sub: "alice", exp: now + 600 })
          .setProtectedHeader({ alg: "HS256", kid: keys[0]!.kid })
          .sign(new TextEncoder().encode(JSON.stringify(keys[0])));
      },
      /alg/i,
    ],
    ["not a token at all", async () => "gibberish", /neither a JWT/],
  ];

  test.each(attempts)("a token %s", async (_name, make, reason) => {
    const [issuer, other] = [await startIssuer(), await startIssuer()];
    const { refused, reasons } = await behind([issuer, other]);
    const token = await make(issuer, other);
    const { status, challenge, text } = await refused(token);
    expect(status).toBe(401);
    expect(challenge).toBe(`Bearer realm="goblin", error="invalid_token", resource_metadata="${METADATA}"`);
    // The client learns nothing of the reason; the operator does, without the token.
    expect(text).toContain("The bearer token is not valid");
    expect(reasons().at(-1)).toMatch(reason);
    expect(JSON.stringify(reasons())).not.toContain(token);
  });
});

test("all scopes that a token lacks are asked for at once", async () => {
  const issuer = await startIssuer();
  const { opened, refused } = await behind(issuer, { issuer: { requiredScopes: ["mcp:use", "mcp:more"] } });
  const { status, challenge } = await refused(await issuer.sign({ claims: { scope: "mcp:use other" } }));
  expect(status).toBe(403);
  expect(challenge).toBe(
    `Bearer realm="goblin", error="insufficient_scope", scope="mcp:use mcp:more", resource_metadata="${METADATA}"`,
  );
  // Okta's and Entra's spelling.
  expect((await opened(await issuer.sign({ claims: { scp: ["mcp:use", "mcp:more"] } }))).status).toBe(200);
  expect((await opened(await issuer.sign({ claims: { scp: "mcp:use mcp:more" } }))).status).toBe(200);
});

test("keys are fetched once, and again once for a key that is new", async () => {
  const issuer = await startIssuer();
  const { opened } = await behind(issuer);
  const fetched = () => issuer.asked.filter((path) => path === "/keys").length;
  await Promise.all([1, 2, 3].map(async (n) => opened(await issuer.sign({ claims: { jti: `${n}` } }))));
  expect(fetched()).toBe(1);
  const made = await jose.generateKeyPair("ES256");
  const strange = await issuer.sign({ key: made.privateKey, header: { kid: "unknown" } });
  expect((await opened(strange)).status).toBe(401);
  expect((await opened(strange)).status).toBe(401);
  // Within the cool-down, unknown keys cannot make the gateway ask again.
  expect(fetched()).toBeLessThanOrEqual(2);
});

test("while the issuer is away, known tokens are good and new ones are 503", async () => {
  const issuer = await startIssuer();
  const { opened, reasons } = await behind(issuer);
  const known = await issuer.sign();
  expect((await opened(known)).status).toBe(200);
  const { opened: fresh, reasons: freshReasons } = await behind(issuer);
  issuer.status = 500;
  expect((await opened(known)).status).toBe(200);
  expect((await fresh(known)).status).toBe(503);
  expect(freshReasons().at(-1)).toMatch(/cannot be read: .*HTTP 500/);
  expect(reasons()).toEqual([]);
  issuer.status = undefined;
  // After its cool-down, the gateway asks again.
  await until(async () => (await fresh(known)).status === 200, { what: "the token to be accepted" });
});

test("opaque tokens are introspected", async () => {
  const issuer = await startIssuer();
  const introspect = { clientId: "goblin", clientSecret: "s:ecret" };
  const { opened, refused, reasons } = await behind(issuer, { issuer: { introspect } });
  const claims = { active: true, sub: "alice", aud: [AUDIENCE, "x"], exp: Math.floor(Date.now() / 1000) + 600 };
  issuer.opaque.set("good", claims);
  issuer.opaque.set("foreign", { ...claims, aud: "https://other.example" });
  issuer.opaque.set("forged", { ...claims, iss: "https://evil.example" });
  expect((await opened("good")).status).toBe(200);
  for (const token of ["foreign", "forged", "unknown"]) expect((await refused(token)).status).toBe(401);
  const expected = [/for the audience/, /vouches for a token/, /neither a JWT/];
  expect(reasons().map((reason, i) => expected[i]?.test(String(reason)))).toEqual([true, true, true]);
  issuer.opaque.set("good", { active: false });
  // Known for a while.
  expect((await opened("good")).status).toBe(200);
});

test("a bound token needs a proof of its key for this very request, once", async () => {
  const issuer = await startIssuer();
  const { opened, refused, goblin } = await behind(issuer);
  const [own, thief] = [await proofMaker(), await proofMaker()];
  const token = await issuer.sign({ claims: { cnf: { jkt: own.thumbprint } } });
  const send = async (proof: string | undefined) => {
    const client = rawHttp(goblin.url);
    client.headers = { authorization: `DPoP ${token}`, ...(proof !== undefined && { dpop: proof }) };
    return (await client.initialize()).status;
  };
  const htu = AUDIENCE;
  const good = await own.prove(token, { htu });
  expect(await send(good)).toBe(200);
  expect(await send(good)).toBe(401);
  expect(await send(await own.prove(token, { htu }))).toBe(200);
  expect(await send(undefined)).toBe(401);
  expect(await send(await thief.prove(token, { htu }))).toBe(401);
  expect(await send(await own.prove("another", { htu }))).toBe(401);
  expect(await send(await own.prove(token, { htu: "https://goblin.example/sse" }))).toBe(401);
  expect(await send(await own.prove(token, { htu, htm: "GET" }))).toBe(401);
  expect(await send(await own.prove(token, { htu, iat: Math.floor(Date.now() / 1000) - 3600 }))).toBe(401);
  // Stolen and used as a plain bearer token; and a plain token with somebody's proof.
  const stolen = await refused(token);
  expect(stolen.status).toBe(401);
  expect(stolen.challenge).toMatch(/^DPoP realm="goblin", algs=".*error="invalid_token"/);
  expect((await opened(await issuer.sign(), "DPoP")).status).toBe(401);
});

test("the API needs the admin scope", async () => {
  const issuer = await startIssuer();
  const { goblin } = await behind(issuer, {
    auth: { oauth: { issuers: [{ issuer: issuer.url }], adminScope: "goblin:admin" } },
  });
  const status = async (claims: object) => {
    const headers = { authorization: `Bearer ${await issuer.sign({ claims: { ...claims } })}` };
    return (await fetch(`${goblin.origin}/api/state`, { headers })).status;
  };
  expect(await status({ scope: "other" })).toBe(403);
  expect(await status({ scope: "other goblin:admin" })).toBe(200);
});

test("streams end with the token; the session stays, and a renewed token opens a stream again", async () => {
  const issuer = await startIssuer();
  const { opened, goblin } = await behind(issuer);
  // Past its end by the tolerance, but for a moment.
  const short = await issuer.sign({ lifeSeconds: 2 });
  const { client } = await opened(short);
  const stream = (token: string) =>
    fetch(goblin.url, {
      headers: { ...client.headers, authorization: `Bearer ${token}`, accept: "text/event-stream" } as Record<
        string,
        string
      >,
    });
  const first = await stream(short);
  expect(first.status).toBe(200);
  await expect(first.text()).rejects.toThrow();
  const renewed = await stream(await issuer.sign());
  expect(renewed.status).toBe(200);
  await renewed.body?.cancel();
  const listen = await fetch(goblin.sseUrl, {
    headers: { authorization: `Bearer ${await issuer.sign({ lifeSeconds: 2 })}` },
  });
  // Bob has no longer-lived token, Alice has by now.
  const bobs = await fetch(goblin.sseUrl, {
    headers: { authorization: `Bearer ${await issuer.sign({ lifeSeconds: 2, claims: { sub: "bob" } })}` },
  });
  await bobs.text().catch(() => {});
  const reader = listen.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
});

describe("named tokens", () => {
  test("belong to their name, whatever the token; expire; may be stored as a hash", async () => {
    const { createHash } = await import("node:crypto");
    const hash = `sha256:${createHash("sha256").update("hashed-token-1").digest("hex")}`;
    const goblin = await startGoblin({
      mcpServers: {},
      gateway: {
        auth: {
          clients: {
            ci: { token: "ci-token-1" },
            hashed: { hash },
            old: { token: "old-token-1", expires: "2020-01-01" },
            chief: { token: "chief-token-1", admin: true },
          },
        },
      },
    });
    const status = async (token: string, path = "/metrics") =>
      (await fetch(goblin.origin + path, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status("ci-token-1")).toBe(200);
    expect(await status("hashed-token-1")).toBe(200);
    expect(await status(hash)).toBe(401);
    expect(await status("old-token-1")).toBe(401);
    expect(goblin.logs.some(({ extra }) => extra?.["reason"] === 'the token of "old" has expired')).toBe(true);
    expect(await status("ci-token-1", "/api/state")).toBe(403);
    expect(await status("chief-token-1", "/api/state")).toBe(200);
  });
});
