/** What a principal sees, asked through the API: profiles, rules with their lines, and why. */
import { afterEach, expect, test } from "vitest";
import type { AccessState, PrincipalView } from "../../src/admin/api/access/schema.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, startScripted } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

const ISSUER = "https://issuer.example";
const ADMIN = { authorization: "Bearer an-admin-token", "content-type": "application/json" };

async function scene() {
  const [files, web] = await Promise.all([startScripted({ name: "files" }), startScripted({ name: "web" })]);
  const config = {
    mcpServers: { files: files.entry, web: web.entry },
    metaTools: { enabled: [] },
    profiles: { reading: { servers: ["files"], tools: { allow: ["echo", "add"] } } },
    policy: {
      rules: [
        { id: "no-sleep", effect: "deny", tools: ["sleep"], who: { not: { groups: ["ops"] } } },
        { id: "ask-first", effect: "ask", tools: ["web/echo"], reason: "It leaves the house." },
        { id: "small", effect: "deny", tools: ["files/add"], when: "args.a > 10.0" },
        { id: "key", effect: "allow", tools: ["files/echo"], set: { apiKey: "sk-top-secret-1" } },
      ],
    },
    gateway: {
      admin: { tokens: ["an-admin-token"] },
      publicUrl: "https://gateway.example",
      auth: {
        clients: { ci: { token: "a-token-of-the-ci", profile: "reading" }, ops: { token: "a-token-of-ops" } },
        oauth: { issuers: [{ issuer: ISSUER }], profiles: { reading: { groups: ["readers"] } } },
      },
    },
  };
  const { origin } = await startGoblin(config);
  const view = async (body: Record<string, unknown>): Promise<PrincipalView> => {
    const answer = await fetch(`${origin}/api/access/view`, {
      method: "POST",
      headers: ADMIN,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as PrincipalView;
  };
  return { origin, view };
}

const entry = ({ items }: PrincipalView, name: string) => items.find((item) => item.name === name);

test("profiles, rules and clients are told without a token, a hash or a secret", async () => {
  const { origin } = await scene();
  const answer = await fetch(`${origin}/api/access`, { headers: ADMIN });
  const text = await answer.text();
  expect(text).not.toMatch(/a-token-of|an-admin-token|sk-top-secret/);
  const access = JSON.parse(text) as AccessState;
  expect(access).toMatchObject({
    config: null,
    default: "allow",
    clients: [
      { name: "ci", profiles: ["reading"], admin: false },
      { name: "ops", profiles: null, admin: false },
    ],
    issuers: ["https://issuer.example"],
    tokens: true,
    pairing: false,
  });
  expect(access.profiles).toMatchObject([
    {
      name: "reading",
      endpoint: "/mcp/p/reading",
      servers: ["files"],
      clients: ["ci"],
      scopes: [],
      groups: ["readers"],
    },
  ]);
  expect(access.rules.map(({ id, effect }) => [id, effect])).toEqual([
    ["no-sleep", "deny"],
    ["ask-first", "ask"],
    ["small", "deny"],
    ["key", "allow"],
  ]);
  expect(access.rules[0]!.rule).toMatchObject({ tools: ["sleep"], who: { not: { groups: ["ops"] } } });
});

test("a principal's view says what it sees, what a call does, and why", async () => {
  const { view } = await scene();
  const anyone = await view({});
  expect(anyone).toMatchObject({ endpoint: "/mcp", exists: true, profile: null, why: "limited by 4 rules" });
  expect(entry(anyone, "files_sleep")).toMatchObject({
    visible: false,
    listed: false,
    effect: "deny",
    rules: ["no-sleep"],
    why: "the rule no-sleep hides it",
  });
  expect(entry(anyone, "web_echo")).toMatchObject({ visible: true, effect: "ask", rules: ["ask-first"] });
  expect(entry(anyone, "files_add")).toMatchObject({ visible: true, effect: "depends", rules: ["small"] });
  expect(entry(anyone, "files_echo")).toMatchObject({ effect: "allow", rules: ["key"], why: "nothing hides it" });
  expect(anyone.counts.visible + anyone.counts.hidden).toBe(anyone.items.length);
  expect(anyone.counts).toMatchObject({ hidden: 2, asked: 1 });

  const ops = await view({ groups: ["ops"] });
  expect(entry(ops, "files_sleep")).toMatchObject({ visible: true, effect: "allow", rules: [] });
  expect(ops.rules).toEqual(["ask-first", "small", "key"]);

  const ci = await view({ as: "ci" });
  expect(ci).toMatchObject({ exists: true, profile: "reading" });
  const seen = ci.items.filter(({ kind, visible }) => kind === "tool" && visible).map(({ name }) => name);
  expect(seen.sort()).toEqual(["files_add", "files_echo"]);
  expect(entry(ci, "web_echo")).toMatchObject({ visible: false, why: "the profiles of the principal do not show it" });

  const atProfile = await view({ as: "ops", profile: "reading" });
  expect(atProfile).toMatchObject({ endpoint: "/mcp/p/reading", profile: "reading" });
  expect(entry(atProfile, "web_echo")).toMatchObject({ why: 'the profile "reading" does not show it' });
});

test("the view agrees with what the principal itself is listed", async () => {
  const { origin, view } = await scene();
  const ci = await view({ as: "ci" });
  const { client } = await connectV1({
    url: `${origin}/mcp`,
    headers: { authorization: "Bearer a-token-of-the-ci" },
  });
  const { tools } = await client.listTools();
  const listed = ci.items.filter(({ kind, listed: isListed }) => kind === "tool" && isListed);
  expect(tools.map(({ name }) => name).sort()).toEqual(listed.map(({ name }) => name).sort());
});

test("an endpoint that does not exist for a principal is said so; an unknown profile is named", async () => {
  const { origin, view } = await scene();
  const as = `${ISSUER} ann`;
  expect(await view({ as, groups: ["readers"], profile: "reading" })).toMatchObject({ exists: true });
  const other = await view({ as, groups: ["writers"], profile: "reading" });
  expect(other).toMatchObject({
    exists: false,
    why: 'the endpoint does not exist for this principal: the profile "reading" does not allow it',
    counts: { visible: 0 },
  });
  const answer = await fetch(`${origin}/api/access/view`, {
    method: "POST",
    headers: ADMIN,
    body: JSON.stringify({ profile: "nope" }),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({
    error: { code: "INVALID_PARAMS", message: 'The config has no profile "nope"' },
  });
});

test("a client's token neither asks nor sees; without any token nobody does", async () => {
  const { origin } = await scene();
  for (const authorization of ["Bearer a-token-of-the-ci", ""]) {
    const headers = { ...ADMIN, authorization };
    const asked = await fetch(`${origin}/api/access/view`, { method: "POST", headers, body: "{}" });
    expect([401, 403]).toContain(asked.status);
    const told = await fetch(`${origin}/api/access`, { headers });
    expect([401, 403]).toContain(told.status);
    expect(await told.text()).not.toContain("no-sleep");
  }
});

test("rules and profiles have their lines in the file that is in use", async () => {
  const home = await serveHome({});
  home.write(`{
  "mcpServers": {},
  "profiles": {
    // Only what reads.
    "reading": { "tools": { "allow": ["@readOnly"] } }
  },
  "policy": {
    "rules": [
      { "effect": "deny", "tools": ["a"] },
      { "id": "b", "effect": "deny", "tools": ["b"] }
    ]
  }
}`);
  const { origin } = await startServe(home);
  const access = (await (await fetch(`${origin}/api/access`)).json()) as AccessState;
  expect(access).toMatchObject({
    config: home.configFile,
    rules: [
      { id: "policy.rules[0]", line: 9 },
      { id: "b", line: 10 },
    ],
    profiles: [{ name: "reading", line: 5 }],
  });
});
