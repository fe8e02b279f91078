/** Several issuers at once: each vouches for people of its own. */
import { afterEach, describe, expect, test } from "vitest";
import { behind } from "../../fixtures/behind-issuers.ts";
import { disposeAll } from "../../fixtures/dispose.ts";
import { AUDIENCE, startIssuer } from "../../fixtures/issuer.ts";

afterEach(disposeAll);

describe("several issuers", () => {
  const introspect = { clientId: "goblin", clientSecret: "s:ecret" };

  test("each vouch for people of their own; equal subjects are different principals", async () => {
    const [first, second, third] = await Promise.all([startIssuer(), startIssuer(), startIssuer()]);
    const { goblin, opened, refused } = await behind([], {
      auth: {
        oauth: {
          issuers: [
            { issuer: first.url, requiredScopes: ["mcp:use"] },
            { issuer: second.url, audience: ["api://goblin"] },
            { issuer: third.url, introspect },
          ],
        },
      },
    });
    const metadata = await fetch(`${goblin.origin}/.well-known/oauth-protected-resource`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [first.url, second.url, third.url] });
    const [hers, his] = [
      await first.sign({ claims: { scope: "mcp:use" } }),
      await second.sign({ claims: { aud: "api://goblin" } }),
    ];
    third.opaque.set("opaque", { active: true, sub: "alice", aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 600 });
    const { client, status } = await opened(hers);
    expect([status, (await opened(his)).status, (await opened("opaque")).status]).toEqual([200, 200, 200]);
    // All three are called alice.
    for (const [token, expected] of [
      [his, 404],
      ["opaque", 404],
      [hers, 200],
    ] as const) {
      client.headers = { ...client.headers, authorization: `Bearer ${token}` };
      expect((await client.post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).status).toBe(expected);
    }
    // What one issuer accepts or demands says nothing about another.
    expect((await refused(await first.sign({ claims: { aud: "api://goblin", scope: "mcp:use" } }))).status).toBe(401);
    expect((await refused(await first.sign())).status).toBe(403);
    // A JWT goes to nobody but the issuer that it names, and that one is asked for its keys only.
    expect(third.asked.filter((path) => path === "/introspect")).toHaveLength(1);
  });

  test("one that is away closes the door to its own people alone", async () => {
    const [first, second] = await Promise.all([startIssuer(), startIssuer()]);
    const { opened, reasons } = await behind([first, second]);
    first.status = 500;
    expect((await opened(await first.sign())).status).toBe(503);
    expect((await opened(await second.sign())).status).toBe(200);
    expect([...new Set(reasons())]).toEqual([expect.stringContaining(first.url)]);
  });
});
