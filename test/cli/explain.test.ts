/** `goblin explain` and `goblin preflight` against a running gateway, by its rules and profiles. */
import { dirname } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

vi.setConfig({ testTimeout: 90_000 });
afterEach(disposeAll);

const ADMIN = "an-admin-token-for-a-test-0123456789";

test("a running gateway explains by its rules and profiles, with lines, without its config", async () => {
  const server = await startScripted({ name: "one" });
  const home = commandHome();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    mcpServers: { one: { ...server.entry, tools: { deny: ["sum*"] } } },
    timeouts: { callMs: 7000 },
    tools: { expose: "search" },
    profiles: { small: { tools: { allow: ["echo"] }, expose: "all" } },
    policy: {
      rules: [
        { id: "no-adding", effect: "deny", tools: ["add"], who: { principals: ["ci"] } },
        { id: "short", effect: "deny", tools: ["echo"], who: { principals: ["ci"] }, when: "size(args.message) > 3" },
      ],
    },
    gateway: {
      port,
      auth: { clients: { ci: { token: "a-long-token-for-a-test-0123456789" } } },
      admin: { tokens: [ADMIN] },
    },
  };
  const path = home.write("team.json", JSON.stringify(config, null, 2));
  const lines = JSON.stringify(config, null, 2).split("\n");
  const lineOf = (text: string): number => lines.findIndex((line) => line.includes(text)) + 1;
  home.start(["serve", "--config", path], { cwd: dirname(home.folder) });
  // Another folder, without a config.
  const elsewhere = { cwd: home.env["HOME"]!, env: { GOBLIN_TOKEN: ADMIN } };
  const ask = (...args: string[]) => home.goblinWith(elsewhere, ...args, "--url", url);
  await until(async () => (await ask("list", "tools")).out.includes("one_echo"));

  const hidden = await ask("explain", "one_add", "--as", "ci", "--json");
  expect(hidden.code).toBe(1);
  expect(JSON.parse(hidden.out)).toMatchObject({
    server: "one",
    tool: "add",
    exposed: "one_add",
    visible: false,
    listed: false,
    why: "the rule no-adding hides it",
    effect: "deny",
    decidedBy: "no-adding",
    config: path,
    rules: [{ id: "no-adding", at: `${path}:${lineOf('"no-adding"') - 1}` }],
    timeout: { ms: 7000, from: "timeouts.callMs", line: lineOf('"callMs"') },
    breaker: { open: false, failures: 0 },
    state: "ready",
  });
  const refused = await ask("explain", "one/echo", "--as", "ci", "--args", '{"message":"long"}');
  expect(refused.code).toBe(1);
  expect(refused.out).toContain(`effect   deny, by short at ${path}:`);
  expect(refused.out).toContain("when size(args.message) > 3: holds\n");
  expect(refused.out).toContain('listed   no: clients find it by search: tools.expose is "search"');
  const fine = await ask("explain", "one/echo", "--as", "ci", "--args", '{"message":"no"}');
  expect(fine.code).toBe(0);
  expect(fine.out).toContain('sends    {"message":"no"}');
  expect((await ask("explain", "one/echo", "--profile", "small")).out).toContain("listed   yes\n");
  expect((await ask("explain", "one/add", "--profile", "small")).out).toContain('the profile "small" does not show it');
  expect(await ask("explain", "one/echo", "--profile", "smal")).toMatchObject({
    code: 2,
    err: expect.stringContaining('no profile "smal"'),
  });
  expect(await ask("explain", "one_sum")).toMatchObject({
    code: 2,
    err: expect.stringContaining('mcpServers.one.tools.deny leaves "sum" out'),
  });

  const check = async (...args: string[]) => {
    const { code, out } = await ask("preflight", ...args, "--json");
    return [code, ...(JSON.parse(out) as { reason: string }[]).map(({ reason }) => reason)];
  };
  const rule = `rule no-adding at ${path}:${lineOf('"no-adding"') - 1}`;
  expect(await check("one_add", "one_fail", "--as", "ci")).toEqual([11, rule, null]);
  expect(await check("one_add", "--profile", "small")).toEqual([11, 'the profile "small" does not show it']);
  expect(await check("one_add", "--as", "somebody")).toEqual([0, null]);
});

test("the API tells the timeout of one tool and its tokens, and is guarded", async () => {
  const server = await startScripted({ name: "one" });
  const goblin = await startGoblin({
    mcpServers: { one: { ...server.entry, timeoutMs: 4321, tools: { overrides: { echo: { timeoutMs: 99 } } } } },
    gateway: { auth: { tokens: ["a-client-token-for-a-test-0123456789"] }, admin: { tokens: [ADMIN] } },
  });
  const ask = async (body: unknown, token = ADMIN) => {
    const response = await fetch(`${goblin.origin}/api/explain`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect((await ask({ name: "one_echo" })).body).toMatchObject({
    timeout: { ms: 99, from: "mcpServers.one.tools.overrides.echo.timeoutMs", line: null },
    listed: true,
    config: null,
    lastErrors: [],
    tokens: expect.any(Number),
  });
  expect(await ask({ name: "one_ehco" })).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining('did you mean "one_echo"?') } },
  });
  expect((await ask({})).status).toBe(400);
  expect((await ask({ name: "one_echo" }, "a-client-token-for-a-test-0123456789")).status).toBe(403);
});
