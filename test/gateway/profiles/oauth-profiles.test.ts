/** Profiles of access tokens: by scope, by group, and by the endpoint that a token is for. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { AUDIENCE, startIssuer } from "../../fixtures/issuer.ts";
import { disposeAll, rawHttp, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

async function start() {
  const [issuer, web, db] = await Promise.all([
    startIssuer(),
    startScripted({ name: "web" }),
    startScripted({ name: "db" }),
  ]);
  const goblin = await startGoblin({
    mcpServers: { web: web.entry, db: db.entry },
    metaTools: { enabled: [] },
    profiles: { research: { servers: ["web"] }, ops: { servers: ["db"] }, free: {} },
    gateway: {
      publicUrl: "https://goblin.example",
      auth: {
        oauth: {
          issuers: [{ issuer: issuer.url }],
          profiles: { research: { scopes: ["mcp:research"] }, ops: { scopes: ["mcp:ops"], groups: ["admins"] } },
        },
      },
    },
  });
  const at = async (path: string, token: string) => {
    const client = rawHttp(goblin.origin + path);
    client.headers = { authorization: `Bearer ${token}` };
    const { status, headers } = await client.initialize();
    const { result } = status === 200 ? (await client.call("tools/list")).message : { result: { tools: [] } };
    const servers = (result.tools as { name: string }[]).map(({ name }) => name.slice(0, name.indexOf("_")));
    return { status, challenge: headers.get("www-authenticate"), servers: [...new Set(servers)] };
  };
  return { issuer, goblin, at };
}

test("scopes and groups open profiles, and a token without one is told which scopes would help", async () => {
  const { issuer, at } = await start();
  const token = (claims: Record<string, unknown>) => issuer.sign({ claims });
  const [research, both, admin, none] = await Promise.all([
    token({ scope: "mcp:research" }),
    token({ scope: "mcp:research mcp:ops" }),
    token({ groups: ["admins"] }),
    token({ scope: "other" }),
  ]);
  expect(await at("/mcp", research)).toMatchObject({ status: 200, servers: ["web"] });
  expect(await at("/mcp", both)).toMatchObject({ status: 200, servers: ["db", "web"] });
  expect(await at("/mcp", admin)).toMatchObject({ status: 200, servers: ["db"] });
  expect(await at("/mcp/p/ops", both)).toMatchObject({ status: 200, servers: ["db"] });
  const challenge = 'Bearer realm="goblin", error="insufficient_scope", scope=';
  expect(await at("/mcp", none)).toMatchObject({
    status: 403,
    challenge: `${challenge}"mcp:research mcp:ops", resource_metadata="https://goblin.example${WELL_KNOWN}/mcp"`,
  });
  expect(await at("/mcp/p/ops", research)).toMatchObject({
    status: 403,
    challenge: `${challenge}"mcp:ops", resource_metadata="https://goblin.example${WELL_KNOWN}/mcp/p/ops"`,
  });
  // No scope opens these.
  for (const path of ["/mcp/p/free", "/mcp/p/none", "/mcp/s/db", "/mcp/s/none"]) {
    expect((await at(path, research)).status, path).toBe(404);
  }
});

test("every endpoint has metadata, whether it exists or not", async () => {
  const { goblin } = await start();
  const metadata = async (path: string) => (await fetch(`${goblin.origin}${WELL_KNOWN}${path}`)).json();
  const [free, none] = await Promise.all([metadata("/mcp/p/free"), metadata("/mcp/p/none")]);
  expect(free).toMatchObject({ resource: "https://goblin.example/mcp/p/free" });
  expect(JSON.stringify(free).replace("/p/free", "/p/none")).toBe(JSON.stringify(none));
  // A-L4: neither metadata nor challenges tell a profile with scopes from one that does not exist.
  const research = await metadata("/mcp/p/research");
  expect(JSON.stringify(research).replace("/p/research", "/p/none")).toBe(JSON.stringify(none));
  const challenges = await Promise.all(
    ["research", "none"].map(async (name) => {
      const answer = await fetch(`${goblin.origin}/mcp/p/${name}`, { method: "POST" });
      return answer.headers.get("www-authenticate")?.replace(`/p/${name}`, "");
    }),
  );
  expect(challenges[0]).toBe(challenges[1]);
  expect(await metadata("/sse/s/web")).toMatchObject({ resource: "https://goblin.example/sse/s/web" });
  expect(await metadata("/other")).toMatchObject({ error: { code: "NOT_FOUND" } });
});

test("a token for one endpoint opens that one alone", async () => {
  const { issuer, at } = await start();
  const scope = "mcp:research mcp:ops";
  const narrow = await issuer.sign({ claims: { scope, aud: "https://goblin.example/mcp/p/research" } });
  expect(await at("/mcp/p/research", narrow)).toMatchObject({ status: 200, servers: ["web"] });
  expect((await at("/mcp", narrow)).status).toBe(401);
  expect((await at("/mcp/p/ops", narrow)).status).toBe(401);
  const elsewhere = await issuer.sign({ claims: { scope, aud: "https://goblin.example.evil/mcp/p/research" } });
  expect((await at("/mcp/p/research", elsewhere)).status).toBe(401);
  const wide = await issuer.sign({ claims: { scope, aud: [AUDIENCE, "https://goblin.example/mcp/p/research"] } });
  expect((await at("/mcp/p/ops", wide)).status).toBe(200);
});
